/**
 * Payslips and summaries as PDF.
 *
 * @module
 */
export { type DocumentFont, loadDefaultFont, parseFont } from './document.ts';
export { type PayslipOptions, renderPayslip, renderSummary } from './payslip.ts';
