/**
 * What a command prints to, and what every command needs: its context, and the ledger beside the running gate.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { formatData, PoolError } from '@pool/core';
import { type Ledger, openLedger } from '@pool/policy';
import { type GatePlaces, parseGatePlaces } from '../config/config.ts';
import { type ConfigSource, ledgerPath } from '../config/gate-home.ts';

export type Streams = {
  /** Standard output: only the outcome. */
  out(text: string): void;
  /** Standard error. */
  err(text: string): void;
};

export type CommandContext = {
  readonly streams: Streams;
  readonly source: ConfigSource;
  readonly nowMs: () => number;
};

/** Options of every command. */
export type CommonOptions = { readonly envFile?: string; readonly json?: boolean };

/** For scripts. The README has the table. */
export const exitCodes = {
  ok: 0,
  /** A problem of configuration or arguments, a failed check of the doctor, or a bug. */
  error: 1,
  /** The answer is no: a manifest is denied, an unknown digest, a broken audit log. */
  refused: 2,
  /** The answer is not yet: a manifest waits. */
  notNow: 6,
} as const;

/** One call of a command. */
export type Call<TOptions extends CommonOptions = CommonOptions> = CommandContext & {
  readonly options: TOptions;
  /** What follows the name of the command. */
  readonly argument: string | undefined;
};

/** The outcome of a command. It votes nothing. */
export type Outcome = {
  /** Default: ok. */
  readonly code?: number;
  readonly text: string;
  /** The data of `--json`. Absent: the command has no such option. */
  readonly document?: unknown;
};

export type Run<TCall> = (call: TCall) => Outcome | Promise<Outcome>;

/** The only place where an outcome is written. */
export function print({ streams, options }: Call, { text, document = null }: Outcome): void {
  if (options.json === true) {
    streams.out(formatData(document));
  } else if (text !== '') {
    streams.out(text);
  }
}

/** A call of a command that works on the ledger beside the running gate. */
export type LedgerCall<TOptions extends CommonOptions = CommonOptions> = Call<TOptions> &
  Pick<GatePlaces, 'policyFile' | 'chainsFile' | 'keys' | 'voteLimitSeconds'> & {
    readonly ledger: Ledger;
  };

/** Opens the ledger of the gate's directory for the command. It throws `invalid_configuration` if there is none. */
export function onLedger<TOptions extends CommonOptions>(
  run: Run<LedgerCall<TOptions>>,
): Run<Call<TOptions>> {
  return async function runOnLedger(call) {
    const { home, ...places } = parseGatePlaces(call.source, call.options.envFile);
    const path = ledgerPath(home);
    if (!existsSync(path)) {
      throw new PoolError(
        'invalid_configuration',
        `there is no ledger in ${home}; start the gate once, or set APPROVE_HOME to its directory`,
      );
    }
    const ledger = openLedger({ path, role: 'operator' });
    try {
      return await run({ ...call, ...places, ledger });
    } finally {
      ledger.close();
    }
  };
}
