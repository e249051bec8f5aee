/** A page for print and screen that loads nothing: no script, font, image or request. */

import { sha256 } from '../../digest.ts';
import { markup } from './html.ts';
import type { Html } from './html.ts';

export interface Page {
  readonly title: string;
  readonly content: Html;
  /** Large pale words across the page: `DRAFT`. */
  readonly watermark?: string | undefined;
}

/** The whole document. */
export function pageText({ title, content, watermark }: Page): string {
  const stamp = watermark === undefined ? markup`` : markup`<p class="watermark" aria-hidden="true">${watermark}</p>`;
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy()}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light" />
        <title>${title}</title>
        ${styleElement()}
      </head>
      <body>
        <main>${stamp}${content}</main>
      </body>
    </html>
    `.text;
}

/** The policy's hash covers everything between the tags, to the last space. */
const styleElement = (): Html => ({ text: `<style>${style}</style>` });

/** Nothing is loaded and nothing runs, whatever the content says; of styles only ours apply. */
function policy(): string {
  const hash = sha256().update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}

const style = `
:root { --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --wash: #f5f7f9; --accent: #1f4e79; }
* { box-sizing: border-box; }
html { font: 15px/1.5 "Helvetica Neue", Helvetica, Arial, "Noto Sans", "Liberation Sans", sans-serif; color: var(--ink); background: #eceff2; }
body { margin: 0; }
main { position: relative; max-width: 210mm; margin: 24px auto; padding: 16mm 15mm; background: #fff; box-shadow: 0 1px 4px rgb(0 0 0 / 12%); overflow: hidden; }
h1 { margin: 0; font-size: 28px; line-height: 1.2; font-weight: 600; letter-spacing: -0.01em; }
h2 { margin: 0 0 4px; font-size: 12px; font-weight: 600; color: var(--soft); }
p { margin: 0; }
bdi, td, th, dd { overflow-wrap: anywhere; }
thead th, .date { overflow-wrap: normal; }
.date { white-space: nowrap; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: flex-start; gap: 12px 32px; padding-bottom: 20px; border-bottom: 2px solid var(--accent); }
.sender { text-align: right; color: var(--soft); font-style: normal; }
.sender b { color: var(--ink); }
.number { margin-top: 4px; color: var(--soft); }
.status { display: inline-block; margin-left: 8px; padding: 1px 10px; border: 1px solid currentcolor; border-radius: 99px; font-size: 12px; font-weight: 600; color: var(--accent); }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: 24px 32px; margin: 24px 0 28px; }
.facts .name { font-weight: 600; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 16px; margin: 0; align-content: start; }
dt { color: var(--soft); }
dd { margin: 0; }
.headline { margin: 0 0 28px; padding: 14px 18px; display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 4px 24px; background: var(--wash); border-left: 4px solid var(--accent); }
.headline b { font-size: 22px; line-height: 1.2; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 6px; text-align: left; font-weight: 600; }
th, td { padding: 8px 0 8px 16px; text-align: left; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
thead th { font-size: 12px; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--ink); vertical-align: bottom; }
tbody th { font-weight: 400; }
tbody tr { border-bottom: 1px solid var(--line); }
.wide { font-size: 13px; }
.wide caption { font-size: 15px; }
.wide th + th, .wide td { padding-left: 12px; }
.right { text-align: right; }
.amount { text-align: right; overflow-wrap: normal; }
.note { display: block; font-size: 13px; color: var(--soft); }
.edge th, .edge td { font-weight: 600; }
tbody tr.edge:last-child { border-bottom: 2px solid var(--accent); }
.totals { width: auto; min-width: 50%; margin: 16px 0 0 auto; break-inside: avoid; }
.totals th { font-weight: 400; }
.totals tr { border: 0; }
.totals th, .totals td { padding-top: 4px; padding-bottom: 4px; }
.totals .due th, .totals .due td { padding-top: 8px; font-weight: 700; font-size: 17px; border-top: 2px solid var(--accent); }
footer, .below { margin-top: 28px; }
footer { padding-top: 12px; border-top: 1px solid var(--line); font-size: 12px; color: var(--soft); }
.watermark { position: absolute; top: 38%; left: 0; right: 0; text-align: center; font-size: 120px; font-weight: 700; letter-spacing: 0.08em; line-height: 1; color: var(--accent); opacity: 0.07; transform: rotate(-28deg); pointer-events: none; }
@media (max-width: 640px) {
  html { background: #fff; }
  main { margin: 0; padding: 20px 16px; box-shadow: none; }
  .facts { grid-template-columns: 1fr; }
  .sender { text-align: left; }
  table.lines, .lines tbody, .lines tr, .lines th, .lines td { display: block; }
  .lines caption { display: block; }
  .lines thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .lines tr { padding: 10px 0; }
  .lines tbody th, .lines tbody td { padding: 1px 0; text-align: left; white-space: normal; }
  .lines tbody td { display: flex; justify-content: space-between; gap: 16px; }
  .lines tbody td::before { content: attr(data-label); flex: none; color: var(--soft); }
  .lines tbody td:empty { display: none; }
  .totals { width: 100%; }
  .watermark { font-size: 64px; }
}
@page { size: auto; margin: 14mm 13mm 16mm; }
@media print {
  html { background: #fff; font-size: 10.5pt; }
  main { max-width: none; margin: 0; padding: 0; box-shadow: none; overflow: visible; }
  thead { display: table-header-group; }
  tr, .totals, .headline, .facts { break-inside: avoid; }
  .watermark { position: fixed; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
