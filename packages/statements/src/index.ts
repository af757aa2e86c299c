/**
 * What a paid run hands to the books. Pure functions over lines: a line for each payee.
 *
 * @module
 */

export { convertAmount, type FiatRate, formatFiat, parseFiat, parseFiatRate } from './fiat.ts';
export {
  createStatementDocument,
  encodeStatementCsv,
  type StatementLine,
  type StatementOptions,
} from './statement.ts';
