/**
 * `disburse-agent notes export|import`: the sealed notes of the agent directory as a file, and notes of a file into the agent directory
 * (docs/decisions/0012). Both run in this process, whether the agent runs or not, and ask no platform.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { createRedactedLog } from '@pool/http-server';
import { createSyncView, exitCodes, type Output, withProgress, writeNewFile } from '@pool/pay-run';
import { openHolder } from '@pool/signers';
import type { ImportOutcome, OfferedNote } from '@pool/wallet';
import type { Holder, HolderChain, HolderNotes } from '@pool/wallet/node';
import {
  type FileNote,
  type LocalNotesDeps,
  type NotesDocument,
  openLocalNotes,
  readNotesFile,
} from '@pool/wallet/node';
import { readKeepingSettings } from '../../config/config.ts';
import { findChain, findToken } from '../../services/holder/spend-place.ts';
import { ensureAgentHome } from '../../state/agent-home.ts';
import { inTokens } from '../holder/spend-echo.ts';

type NotesOptions = {
  readonly chain?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type ExportNotesOptions = NotesOptions & {
  /** A new file. Absent: standard output. */
  readonly file?: string;
  /** Symbol. Absent: every token. */
  readonly token?: string;
};

export type ImportNotesOptions = NotesOptions;

/** Chain and threads. A test puts fakes here. */
type Ports = Pick<LocalNotesDeps, 'createHistory' | 'createScanner'>;

/** @returns the exit code */
export async function runNotesExport(
  options: ExportNotesOptions,
  { out, terminal }: Pick<Output, 'out' | 'terminal'>,
  ports: Ports = {},
): Promise<number> {
  if (options.json === true && options.file === undefined) {
    throw new PoolError(
      'invalid_request',
      '--json needs --file: without it, standard output gets the file of the notes',
    );
  }
  return await withNotes(options, ports, async ({ notes, chain }) => {
    const token =
      options.token === undefined ? undefined : findToken(options.token, chain.settings);
    const whole = await notes.exportNotes();
    const document = {
      ...whole,
      notes: whole.notes.filter((note) => token === undefined || note.token === token),
    };
    if (document.notes.length === 0) {
      throw new PoolError(
        'not_found',
        `the agent directory has no ${options.token ?? 'sealed'} notes of this holder on ${chain.key}, so nothing was written; the agent keeps them when it reads the balance: run "disburse-agent balance" first`,
      );
    }
    const text = JSON.stringify(document, null, 2);
    if (options.file === undefined) {
      out(text);
      terminal.write(`${describeExport(document, chain)}\n`);
    } else {
      writeNewFile(options.file, `${text}\n`);
      out(
        options.json === true
          ? summarize(options.file, document, chain)
          : `${options.file}: ${describeExport(document, chain)}`,
      );
    }
    return exitCodes.ok;
  });
}

/** @returns the exit code: 0 when no entry was refused and at least one is the holder's */
export async function runNotesImport(
  path: string,
  options: ImportNotesOptions,
  { out, terminal }: Pick<Output, 'out' | 'terminal'>,
  ports: Ports = {},
): Promise<number> {
  return await withNotes(options, ports, async ({ notes, chain, holder }) => {
    const { chainId, pool, tokens } = chain.settings;
    const file = readNotesFile(path, {
      ...{ chainId, pool },
      encryptionPublicKeys: [holder, ...holder.earlier].map((key) => key.encryptionPublicKey),
    });
    const symbols = Object.keys(tokens).sort();
    const read = async () => notes.progress();
    const result = await withProgress(createSyncView(terminal), read, async () => {
      const before = await readTotals(notes, symbols);
      const outcomes = await importAll(file.notes, notes);
      return { ...classify(file.notes, outcomes), before, after: await readTotals(notes, symbols) };
    });
    const report = {
      ...{ chain: chain.key, chainId, pool },
      ...{ new: result.accepted, known: result.known, others: result.others },
      refused: result.refused,
      balances: symbols.flatMap((token, at) => {
        const [before = 0n, after = 0n] = [result.before[at], result.after[at]];
        return before === after ? [] : [{ token, before: `${before}`, after: `${after}` }];
      }),
    };
    out(options.json === true ? report : describeImport(path, report, chain));
    return report.refused.length === 0 && report.new + report.known > 0
      ? exitCodes.ok
      : exitCodes.error;
  });
}

type Opened = {
  readonly notes: HolderNotes;
  readonly chain: HolderChain;
  readonly holder: Holder;
};

async function withNotes<T>(
  options: NotesOptions,
  ports: Ports,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const settings = readKeepingSettings(options.envFile);
  const chain = findChain(settings, options.chain);
  const holder = await openHolder({ ...settings, chain: chain.key });
  ensureAgentHome(settings.home);
  const log = createRedactedLog('warn');
  const notes = openLocalNotes({ home: settings.home, ...{ holder, chain, log }, ...ports });
  try {
    return await work({ notes, chain, holder });
  } finally {
    await notes.close();
  }
}

function summarize(
  path: string,
  { notes, chainId, pool, walletPub, encryptionPublicKey }: NotesDocument,
  { key, settings }: HolderChain,
) {
  const symbols = new Map<string, string>(
    Object.entries(settings.tokens).map(([symbol, { address }]) => [address, symbol]),
  );
  const counts: Record<string, number> = {};
  for (const { token } of notes) {
    const name = symbols.get(token) ?? token;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const encryptionPublicKeys = [
    ...new Set([encryptionPublicKey, ...notes.map((note) => note.encryptionPublicKey)]),
  ].filter((known) => known !== undefined);
  return {
    ...{ path, notes: notes.length, tokens: counts, chain: key },
    ...{ chainId, pool, walletPub, encryptionPublicKeys },
  };
}

function describeExport(document: NotesDocument, chain: HolderChain): string {
  const { notes, tokens, pool, chainId, encryptionPublicKeys } = summarize('', document, chain);
  const counts = Object.entries(tokens).map(([token, count]) => `${token}: ${count} note(s)`);
  return [
    `${notes} sealed note(s), spent ones too (${counts.join(', ')})`,
    `  chain ${chain.key} (chain id ${chainId}), pool ${pool}`,
    ...encryptionPublicKeys.map((key) => `  P ${key}`),
    '  No key is in the file. Whoever has the viewing key can read it, and nobody can spend from it.',
  ].join('\n');
}

async function readTotals(
  notes: Pick<HolderNotes, 'readBalance'>,
  symbols: readonly string[],
): Promise<readonly bigint[]> {
  const totals: bigint[] = [];
  for (const symbol of symbols) {
    totals.push((await notes.readBalance(symbol)).total);
  }
  return totals;
}

/** An outcome for each entry; `damaged` for one that cannot be read. */
type Outcome = ImportOutcome | 'damaged';

/** Entries of other holders are offered too: nothing that a file says is believed. */
async function importAll(
  entries: readonly FileNote[],
  notes: Pick<HolderNotes, 'importNotes'>,
): Promise<readonly Outcome[]> {
  const whole = entries.flatMap(({ offered }): OfferedNote[] =>
    offered === undefined ? [] : [offered],
  );
  const outcomes = (await notes.importNotes(whole))[Symbol.iterator]();
  return entries.map(({ offered }) =>
    offered === undefined ? 'damaged' : (outcomes.next().value ?? 'not_ours'),
  );
}

type Refused = {
  /** Where it is in the file. */
  readonly entry: string;
  readonly reason: 'damaged' | 'not_ours' | 'not_on_chain';
};

function classify(entries: readonly FileNote[], outcomes: readonly Outcome[]) {
  let [accepted, known, others] = [0, 0, 0];
  const refused: Refused[] = [];
  for (const [at, { label: entry, isForHolder }] of entries.entries()) {
    const outcome = outcomes[at] ?? 'damaged';
    if (outcome === 'accepted') {
      accepted += 1;
    } else if (outcome === 'known') {
      known += 1;
    } else if (isForHolder || outcome === 'damaged') {
      refused.push({ entry, reason: outcome });
    } else {
      others += 1;
    }
  }
  return { accepted, known, others, refused };
}

const reasons: Readonly<Record<Refused['reason'], string>> = {
  damaged: 'its commitment or its sealed bytes are not whole',
  not_ours: 'it does not open with the viewing keys of this holder, or its amount is 0',
  not_on_chain: 'no final batch or spend of this pool has its commitment; wait until it is final',
};

/** More refused entries are counted only. */
const shownRefusals = 20;

function describeImport(
  path: string,
  report: {
    readonly new: number;
    readonly known: number;
    readonly others: number;
    readonly refused: readonly Refused[];
    readonly balances: readonly {
      readonly token: string;
      readonly before: string;
      readonly after: string;
    }[];
  },
  { settings: { tokens } }: HolderChain,
): string {
  const format = (amount: string, token: string): string =>
    inTokens(amount, token, { decimals: tokens[token]?.decimals });
  const { known, others, refused, balances } = report;
  const lines = refused
    .slice(0, shownRefusals)
    .map(({ entry, reason }) => `  ${entry}: refused: ${reasons[reason]}`);
  if (refused.length > shownRefusals) {
    lines.push(`  ${refused.length - shownRefusals} more refused; --json lists all`);
  }
  if (others > 0) {
    lines.push(`  ${others} note(s) are sealed to other encryption keys, and are not imported`);
  }
  if (balances.length > 0) {
    lines.push(
      ...balances.map(
        ({ token, before, after }) =>
          `  balance: from ${format(before, token)} to ${format(after, token)}`,
      ),
    );
  } else {
    lines.push(
      report.new > 0
        ? '  no balance changed: the new notes are spent already'
        : '  no balance changed',
    );
  }
  return [`${path}: ${report.new} new, ${known} known, ${refused.length} refused`, ...lines].join(
    '\n',
  );
}
