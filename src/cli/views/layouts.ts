/** The layouts that an answer may have on a terminal instead of a table; each is loaded when it is drawn. */

import type { Layout } from '../../operations/operation.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';

type DrawLayout = (body: unknown, stdout: OutputStream) => SafeText;

/** The engine or the client has checked the body against its declaration, so a layout may rely on its form. */
export const layouts: Readonly<Record<Layout, () => Promise<DrawLayout>>> = {
  invoiceExplanation: async () => (await import('./invoice-explanation.ts')).drawInvoiceExplanation as DrawLayout,
  entryExplanation: async () => (await import('./entry-explanation.ts')).drawEntryExplanation as DrawLayout,
  findings: async () => (await import('./findings.ts')).drawFindings as DrawLayout,
  budgetBars: async () => (await import('../charts/budgets.ts')).drawBudgets as DrawLayout,
};
