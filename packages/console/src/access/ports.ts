/**
 * What the console needs of its agent.
 *
 * @module
 */
import type { ShellEnv } from '@pool/http-server';
import type { JobStore } from '@pool/idempotency';
import type { OwnersOffice, ReleaseDeps } from '@pool/operations';
import type { Books, HolderClient, Payer, ReceiptsInput } from '@pool/pay-run';
import type { StatementLine } from '@pool/statements';
import type { Context, Hono } from 'hono';
import type { Session } from './sessions.ts';

export type ConsoleDeps = {
  /** The agent that serves the console, as the payer's commands see it. */
  readonly payer: Books & Pick<Payer, 'chain' | 'withChecks'>;
  /** Its release policy and log, with the store of its jobs. Absent: it has no policy, and nothing waits for people. */
  readonly releases?: (ReleaseDeps & { readonly store: JobStore }) | undefined;
  /** Where the owners of a contract wallet are asked to sign. Absent: no contract wallet pays. */
  readonly owners?: OwnersOffice | undefined;
  /**
   * Opens what payslips need of the agent: the signed disclosure of each payment. Absent: it makes none.
   * @param paid - lines of one pay run
   */
  readonly openDisclosures?: ((paid: readonly StatementLine[]) => Promise<Disclosures>) | undefined;
  /** Reads the notes of the agent's own holder. Absent: it has no key for that. */
  readonly holder?: Holder | undefined;
  /** Of a clock that is never set back, for the ends of logins and sessions. */
  readonly monotonicMs: () => number;
  /** Of the clock that schedules go by. Default: that of this machine. */
  readonly nowMs?: () => number;
  /** Pause between two readings of a job, milliseconds. Default: that of the commands. */
  readonly pollMs?: number;
};

export type Holder = {
  readonly client: Pick<HolderClient, 'balance' | 'history' | 'progress'>;
  /** Symbol. */
  readonly token: string;
  /** Labels of contacts by W. Read for each page. */
  readonly readLabels: () => ReadonlyMap<string, string>;
};

export type Disclosures = Pick<ReceiptsInput, 'payer' | 'disclose'> & { close(): void };

/** Fields of a form. */
export type Form = Readonly<Record<string, unknown>>;

export type ConsoleEnv = {
  Bindings: ShellEnv['Bindings'];
  Variables: ShellEnv['Variables'] & {
    session: Session;
    /** Of a POST. Its token was checked. */
    form: Form;
  };
};
export type ConsoleApp = Hono<ConsoleEnv>;
export type ConsoleContext = Context<ConsoleEnv>;
