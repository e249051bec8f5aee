import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { invoicePage } from '../../../src/cli/documents/invoice-page.ts';
import { statementPage } from '../../../src/cli/documents/statement-page.ts';
import { statementOf } from '../../../src/cli/documents/statement.ts';
import { findBrowser, openBrowser } from '../../support/browser.ts';
import type { TestBrowser } from '../../support/browser.ts';
import { newDirectory } from '../../support/temporary-files.ts';
import { entry, hostileName, invoiceDocument, line, lines, shownName } from './sample.ts';

const executable = findBrowser();
const word = 'W'.repeat(200);

const pages: Readonly<Record<string, string>> = {
  invoice: invoicePage(invoiceDocument()),
  draft: invoicePage(invoiceDocument({ status: 'Drafted' })),
  hostile: invoicePage({
    ...invoiceDocument(
      {
        invoiceNumber: hostileName,
        memo: hostileName,
        lineItems: [line({ name: hostileName, description: word }), ...lines],
      },
      hostileName,
    ),
    sender: [hostileName, word],
  }),
  long: invoicePage(
    invoiceDocument({ lineItems: Array.from({ length: 120 }, (_, index) => line({ name: `Item ${index}` })) }),
  ),
  statement: statementPage({
    contractId: 'contract',
    recipient: invoiceDocument({}, hostileName),
    sender: [],
    period: { from: undefined, to: undefined },
    invoiceNumbers: new Map(),
    statement: statementOf(
      [
        entry('2026-03-01T00:00:00.000Z', 'grant', 1_234_567_890_123, {
          creditAmount: 1_234_567.89,
          description: `${hostileName} ${word}`,
        }),
      ],
      { from: undefined, to: undefined },
    ),
  }),
};

test('every page is one document, and whether a browser looked at it is said', () => {
  if (executable === undefined)
    process.stderr.write('no Chromium: the pages were not looked at in a browser (CHROME_PATH names one)\n');
  expect(Object.values(pages).filter((page) => !/^<!doctype html>.*<\/html>\s*$/s.test(page))).toEqual([]);
});

describe.runIf(executable !== undefined)('in a browser', () => {
  const folder = newDirectory();
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
  }, 60_000);
  afterAll(async () => await browser.close());

  /** The page as a file at a width, with what it asked for and what it complained of. */
  async function open(name: string, width: number) {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, pages[name] ?? '');
    const page = await browser.context.newPage();
    const seen: string[] = [];
    page.on('request', (request) => seen.push(request.url()));
    page.on('console', (message) => seen.push(message.text()));
    page.on('pageerror', (error) => seen.push(error.message));
    page.on('dialog', (dialog) => {
      seen.push(dialog.message());
      void dialog.dismiss();
    });
    await page.setViewportSize({ width, height: 900 });
    const url = pathToFileURL(path).href;
    await page.goto(url);
    return { page, seen, url };
  }

  const widths = [320, 375, 1280];

  test.each(Object.keys(pages))('the %s asks for nothing, complains of nothing and fits every width', async (name) => {
    const { page, seen, url } = await open(name, 1280);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await page.evaluate(cutTexts)).toEqual([]);
    }
    const picture = join(folder, `${name}.png`);
    await page.screenshot({ path: picture, fullPage: true });
    expect(statSync(picture).size).toBeGreaterThan(5000);
    expect(seen).toEqual([url]);
    await page.close();
  });

  test('the amounts of an invoice are seen, on a phone and on a screen', async () => {
    const { page } = await open('invoice', 375);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      for (const amount of ['67.09 USD', '1,200.00 USD', '−50.00 USD', '1,242.09 USD', '22,361,870', '0.000003']) {
        expect(await page.getByText(amount, { exact: true }).first().isVisible()).toBe(true);
      }
    }
    await page.close();
  });

  test('its styles hold under its own policy', async () => {
    const { page } = await open('draft', 1280);
    expect(await page.evaluate(styleOf('.watermark', 'position'))).toBe('absolute');
    expect(await page.evaluate(styleOf('main', 'backgroundColor'))).toBe('rgb(255, 255, 255)');
    await page.close();
  });

  test('a hostile name is read as it is written, and makes no element', async () => {
    const { page } = await open('hostile', 1280);
    expect(await page.locator('.facts .name').textContent()).toBe(shownName);
    expect(await page.title()).toBe(`Invoice ${shownName}`);
    expect(await page.locator('script, img, iframe, a, link').count()).toBe(0);
    await page.close();
  });

  test('a long invoice is several sheets of paper, each with the heads of the columns', async () => {
    const { page } = await open('long', 1280);
    const sheets = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g)?.length;
    expect(sheets).toBeGreaterThan(3);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(styleOf('thead', 'display'))).toBe('table-header-group');
    expect(await page.evaluate(styleOf('tbody tr', 'breakInside'))).toBe('avoid');
    await page.close();
  });

  test.each([
    ['A4', 695],
    ['Letter', 717],
  ])('nothing is cut off on paper of %s', async (_format, width) => {
    const { page } = await open('hostile', width);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate(cutTexts)).toEqual([]);
    await page.close();
  });
});

function styleOf(selector: string, property: string): string {
  return `getComputedStyle(document.querySelector('${selector}')).${property}`;
}

/** Texts that reach beyond the left or right edge of the page or of the sheet on it. */
const cutTexts = `[...document.querySelectorAll('main *:not(.watermark)')]
  .filter((element) => element.children.length === 0 && getComputedStyle(element.closest('thead') ?? element).position !== 'absolute')
  .filter((element) => {
    const [box, sheet] = [element.getBoundingClientRect(), document.querySelector('main').getBoundingClientRect()];
    return box.width > 0 && (box.left < sheet.left - 1 || box.right > sheet.right + 1);
  })
  .map((element) => element.textContent)`;
