/**
 * What a pay run hands to the books and to its payees: tables and payslips.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  collectLines,
  decodeRoster,
  nameReceipt,
  type ReceiptFile,
  renderReceipts,
} from '@pool/pay-run';
import { createStatementDocument, encodeStatementCsv, type StatementLine } from '@pool/statements';
import { loadDefaultFont } from '@pool/statements/pdf';
import type { ConsoleApp, ConsoleContext, ConsoleDeps, Form } from './access/ports.ts';
import type { Drafts } from './runs/drafts.ts';
import { streamZip } from './runs/zip.ts';

type Name = Readonly<Record<'chain' | 'token' | 'label', string>>;

export function addBooksRoutes(
  app: ConsoleApp,
  { payer, openDisclosures }: ConsoleDeps,
  drafts: Drafts,
): void {
  app.post('/:place/runs/:chain/:token/:label/files', async (c) => {
    const name = c.req.param();
    const form = c.get('form');
    const { lines } = await readLines(name, await readRoster(form));
    switch (form['as']) {
      case 'csv':
        return answer(
          c,
          `${name.label}-payees.csv`,
          'text/csv; charset=utf-8',
          encodeStatementCsv(lines),
        );
      case 'json': {
        const text = `${JSON.stringify(createStatementDocument(lines), null, 2)}\n`;
        return answer(c, `${name.label}-payees.json`, 'application/json; charset=utf-8', text);
      }
      case 'payslips':
        return await answerPayslips(c, name, lines);
      default:
        throw new PoolError('invalid_request', 'choose a table or the payslips');
    }
  });

  app.get('/:place/runs/:chain/:token/:label/payees.csv', async (c) => {
    const { lines } = await readLines(c.req.param());
    const name = `${c.req.param('label')}-payees.csv`;
    return answer(c, name, 'text/csv; charset=utf-8', encodeStatementCsv(lines));
  });

  app.get('/:place/runs/:chain/:token/:label/payslips/:commitment', async (c) => {
    const { lines } = await readLines(c.req.param());
    const line = lines.find(({ commitment }) => commitment === c.req.param('commitment'));
    if (line === undefined || line.state !== 'paid') {
      throw new PoolError('not_found', 'this pay run has not paid such a note');
    }
    const receipts = await open(c.req.param('label'), [line]);
    try {
      for await (const file of receipts.files) {
        if (file.kind === 'refused') {
          throw new PoolError('invalid_request', file.reason);
        }
        if (file.kind === 'file') {
          return answer(c, file.name, 'application/pdf', new Uint8Array(Buffer.from(file.content)));
        }
      }
    } finally {
      receipts.close();
    }
    throw new PoolError('not_found', 'this payment has no payslip');
  });

  /** @param given - the roster. Default: that of the console, if it is the one that was sent */
  async function readLines({ chain, token, label }: Name, given?: string) {
    const place = { chain, token };
    const silent = { terminal: { isTty: false, write: () => undefined } };
    const kept = given === undefined ? drafts.findOf({ ...place, payRun: label }) : undefined;
    try {
      const rosterText = given ?? kept?.text;
      return await collectLines(label, payer, { ...place, rosterText }, silent);
    } catch (error) {
      // The console may have another roster, which was never sent under the label.
      if (kept === undefined) {
        throw error;
      }
      return await collectLines(label, payer, place, silent);
    }
  }

  async function open(label: string, lines: readonly StatementLine[]) {
    const paid = lines.filter(({ state }) => state === 'paid');
    if (openDisclosures === undefined || paid.length === 0) {
      throw new PoolError('not_found', 'nobody was paid yet, so there is no payslip');
    }
    const { payer: address, disclose, close } = await openDisclosures(paid);
    const files = renderReceipts({
      ...{ title: `Receipts of ${label}`, lines, payer: address, disclose },
      font: loadDefaultFont(),
    });
    return { files, close };
  }

  async function answerPayslips(
    c: ConsoleContext,
    { label }: Name,
    lines: readonly StatementLine[],
  ): Promise<Response> {
    const { files, close } = await open(label, lines);
    const zip = streamZip(listZipped(files), close);
    return answer(c, `${label}-payslips.zip`, 'application/zip', zip);
  }
}

/** With a note for each payee who has no payslip. */
async function* listZipped(
  files: AsyncGenerator<ReceiptFile>,
): AsyncGenerator<{ readonly name: string; readonly content: string | Buffer }> {
  for await (const file of files) {
    if (file.kind === 'refused') {
      const name = `${nameReceipt(file.line)}-missing.txt`;
      yield { name, content: `There is no payslip: ${file.reason}\n` };
    } else if (file.kind === 'file') {
      yield file;
    }
  }
}

/** @returns undefined: no file was given. @throws PoolError `invalid_roster` */
async function readRoster({ roster }: Form): Promise<string | undefined> {
  return roster instanceof File && roster.size > 0
    ? decodeRoster(new Uint8Array(await roster.arrayBuffer()), 'the file')
    : undefined;
}

/** Labels and names of receipts have no character that a header could not have. */
function answer(
  c: ConsoleContext,
  name: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Response {
  return c.body(body, 200, {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
  });
}
