/**
 * Parses a roster (docs/decisions/0008): a header that names address, amount and perhaps memo, in any order and among
 * further columns; commas, semicolons or tabs; one recipient per line. Finds every mistake in one pass, by line and column.
 *
 * @module
 */
import {
  type AmountUnit,
  findMemoProblem,
  quote,
  type RequestedRecipient,
  tryParseEvmAddress,
} from '@pool/core';
import { parseRosterAmount } from './roster-amount.ts';
import {
  delimiterNames,
  delimiters,
  type Header,
  parseHeader,
  parseLine,
  parseSeparatorLine,
  splitLines,
  type TextLine,
} from './roster-delimiter.ts';

/** A recipient as a request lists it, and its line in the file. `amount` is in base units, a canonical decimal. */
export type RosterEntry = Readonly<RequestedRecipient> & {
  /** From 1, as an editor counts. Absent: not read from a file. */
  readonly line?: number;
};

export type RosterColumn = 'address' | 'amount' | 'memo' | 'header' | 'row';

export type RosterMistake = {
  /** From 1, as an editor counts. */
  readonly line: number;
  readonly column: RosterColumn;
  /** The recipient's address, if the line has a valid one. */
  readonly address?: string;
  readonly code: 'invalid_roster' | 'invalid-address' | 'invalid-amount' | 'duplicate-recipient';
  readonly message: string;
};

/** `entries`: a roster with mistakes has an entry for each line with at least two fields; an invalid field is empty. */
export type Roster = {
  readonly kind: 'roster' | 'mistakes';
  readonly entries: readonly RosterEntry[];
  /** In the order of lines. Empty for a `roster`. */
  readonly mistakes: readonly RosterMistake[];
  /** Names of columns that were not read. */
  readonly unread: readonly string[];
};

/** Amounts are in base units, of any token. */
const baseUnits: AmountUnit = { decimals: 0, symbol: '', format: 'base-units' };

type Columns = Extract<Header, { readonly kind: 'header' }>;

/**
 * Reads the name in a line `invite:<name>`.
 * @returns what stands for the person's address; or the problem
 */
export type ReadInvited = (
  name: string,
) =>
  | { readonly kind: 'person'; readonly place: string }
  | { readonly kind: 'mistake'; readonly message: string };

/** @param readInvited - absent: a line must have an address */
export function parseRoster(
  text: string,
  unit: AmountUnit = baseUnits,
  readInvited: ReadInvited = refuseInvited,
): Roster {
  const all = splitLines(text);
  const separator = all[0] === undefined ? undefined : parseSeparatorLine(all[0].text);
  const [first, ...rows] = separator === undefined ? all : all.slice(1);
  if (first === undefined) {
    return mistaken({ line: 1, message: 'the file has only blank lines' });
  }
  const header = parseHeader(first.text);
  if (header.kind === 'mistake') {
    return mistaken({ line: first.line, message: header.message });
  }
  if (separator !== undefined && separator !== header.delimiter) {
    return mistaken({
      line: first.line,
      message: `the header has ${delimiterNames[header.delimiter]}, but the line before it names ${delimiterNames[separator]}; use one of them in the whole file`,
    });
  }
  const mistakes: RosterMistake[] = [];
  const entries = rows.flatMap(
    (row) => parseRow(row, header, { unit, readInvited }, mistakes) ?? [],
  );
  if (entries.length === 0 && mistakes.length === 0) {
    return mistaken({ line: first.line, message: 'the roster has no recipient below its header' });
  }
  findDuplicates(entries, mistakes);
  mistakes.sort((left, right) => left.line - right.line);
  const { unread } = header;
  return { kind: mistakes.length > 0 ? 'mistakes' : 'roster', entries, mistakes, unread };
}

/** @returns undefined for a line without a recipient */
function parseRow(
  { line, text }: TextLine,
  header: Columns,
  { unit, readInvited }: { readonly unit: AmountUnit; readonly readInvited: ReadInvited },
  mistakes: RosterMistake[],
): RosterEntry | undefined {
  const parsed = parseLine(text, header.delimiter);
  if (parsed.kind === 'mistake') {
    mistakes.push({ line, column: 'row', code: 'invalid_roster', message: parsed.message });
    return undefined;
  }
  const { fields } = parsed;
  if (fields.every((field) => field === '')) {
    return undefined;
  }
  const misfit = describeMisfit(text, fields.length, header);
  if (misfit !== undefined) {
    mistakes.push({ line, column: 'row', code: 'invalid_roster', message: misfit });
  }
  if (fields.length < 2) {
    return undefined;
  }
  const { places } = header;
  const [addressText = '', amountText = ''] = [fields[places.address], fields[places.amount]];
  const memo = places.memo === undefined ? '' : (fields[places.memo] ?? '');
  const recipient = readRecipient(addressText, readInvited);
  const named = recipient.kind === 'address' ? { address: recipient.place } : {};
  if (recipient.kind === 'mistake') {
    const { message } = recipient;
    mistakes.push({ line, column: 'address', code: 'invalid-address', message });
  }
  const next = misfit === undefined ? fields[places.amount + 1] : undefined;
  const cut = findCutAmount(text, amountText, next, header);
  const amount: ReturnType<typeof parseRosterAmount> =
    cut === undefined ? parseRosterAmount(amountText, unit) : { kind: 'mistake', message: cut };
  if (amount.kind === 'mistake') {
    const { message } = amount;
    mistakes.push({ line, column: 'amount', ...named, code: 'invalid-amount', message });
  }
  const memoProblem = findMemoProblem(memo);
  if (memoProblem !== undefined) {
    const message = `${quote(memo)} ${memoProblem}`;
    mistakes.push({ line, column: 'memo', ...named, code: 'invalid_roster', message });
  }
  return {
    recipientAddress: recipient.kind === 'mistake' ? '' : recipient.place,
    amount: amount.kind === 'amount' ? amount.amount.toString() : '',
    ...(memo === '' || memoProblem !== undefined ? {} : { memo }),
    line,
  };
}

function readRecipient(text: string, readInvited: ReadInvited) {
  const invited = /^invite:(.*)$/i.exec(text)?.[1];
  if (invited !== undefined) {
    return readInvited(invited.trim());
  }
  const address = tryParseEvmAddress(text);
  return address === undefined
    ? ({ kind: 'mistake', message: describeAddress(text) } as const)
    : ({ kind: 'address', place: address } as const);
}

function refuseInvited(name: string): ReturnType<ReadInvited> {
  return {
    kind: 'mistake',
    message: `names ${quote(name)}, who was invited, and no address; --unregistered invite pays invited people once they have enrolled`,
  };
}

/**
 * An amount such as 1,500 without quotes in a file with commas: its end would be read as the next field, and the payee would get 1.
 * @param next - the field after the amount
 * @returns the problem; undefined: what follows the amount cannot be its end, or is in quotes
 */
function findCutAmount(
  text: string,
  amount: string,
  next: string | undefined,
  { delimiter }: Columns,
): string | undefined {
  const whole = `${amount},${next}`;
  const isCut =
    delimiter === ',' &&
    next !== undefined &&
    /^[0-9]{1,3}$/.test(amount) &&
    /^[0-9]{1,3}(?:\.[0-9]+)?$/.test(next) &&
    text.replaceAll(' ', '').includes(whole);
  return isCut
    ? `${quote(whole)} can be one amount or two fields; put the amount in quotes, or the field after it`
    : undefined;
}

/** @returns the problem with the number of fields; undefined: the number is valid */
function describeMisfit(text: string, fields: number, header: Columns): string | undefined {
  const { delimiter, width, unread, places } = header;
  // Only a memo at the end may be missing: with further columns, a shorter line would shift an amount.
  const least = unread.length === 0 && places.memo === 2 ? 2 : width;
  if (fields >= least && fields <= width) {
    return undefined;
  }
  const other = delimiters.find((one) => one !== delimiter && text.includes(one));
  if (fields < 2 && other !== undefined) {
    return `${quote(text)} has ${delimiterNames[other]}, but the header has ${delimiterNames[delimiter]}; use one of them in the whole file`;
  }
  if (fields < 2) {
    return `${quote(text)} has one field, but the header names ${width}`;
  }
  if (fields < width) {
    return `has ${fields} fields, but the header names ${width}; write every field of the line, also an empty one`;
  }
  return `has ${fields} fields, but the header names ${width}; put a field that contains ${delimiterNames[delimiter]} in quotes`;
}

function describeAddress(text: string): string {
  const shown = quote(text);
  if (text === '') {
    return 'the address is missing';
  }
  if (/^0x0{40}$/.test(text)) {
    return `${shown} is the zero address, which has no owner`;
  }
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    return `${shown} has a wrong checksum, so a character may be wrong; copy the address again`;
  }
  if (/^0x[0-9a-fA-F]*$/.test(text)) {
    return `${shown} has ${text.length - 2} digits after 0x; an address has 40`;
  }
  return `${shown} is not an address: an address is 0x and 40 hex digits`;
}

function findDuplicates(entries: readonly RosterEntry[], mistakes: RosterMistake[]): void {
  const firstLine = new Map<string, number>();
  for (const { recipientAddress, line = 0 } of entries) {
    if (recipientAddress === '') {
      continue;
    }
    const earlier = firstLine.get(recipientAddress);
    if (earlier === undefined) {
      firstLine.set(recipientAddress, line);
      continue;
    }
    const isAddress = tryParseEvmAddress(recipientAddress) !== undefined;
    mistakes.push({
      line,
      column: 'address',
      ...(isAddress ? { address: recipientAddress } : {}),
      code: 'duplicate-recipient',
      message: `the same ${isAddress ? 'address' : 'person'} is on line ${earlier}; list each recipient once per roster`,
    });
  }
}

/** The result for a file that is not a roster, so that its lines cannot be checked. */
function mistaken(header: { readonly line: number; readonly message: string }): Roster {
  const mistake = { ...header, column: 'header', code: 'invalid_roster' } as const;
  return { kind: 'mistakes', entries: [], mistakes: [mistake], unread: [] };
}
