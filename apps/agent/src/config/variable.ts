/**
 * One row of the configuration's table: what the README says about a variable, and how it is read.
 *
 * @module
 */
import type { Kind } from './kinds.ts';
import type { CredentialForm } from './secret-file.ts';

export type ConfigVariable<T> = {
  readonly name: string;
  /** Who needs it: `all`, or parts of the agent by name. */
  readonly role: string;
  /** For the README, in Markdown: one or two sentences without a full stop at the end. */
  readonly purpose: string;
  readonly kind: Kind<T>;
  /** The agent does not start without it. */
  readonly isRequired?: true;
  /** For the README: what an unset variable without a fallback means. */
  readonly whenUnset?: string;
  /** Value of an unset variable. @param home - the agent directory */
  readonly fallback?: (home: string) => T;
  /** A secret, never shown, with a `_FILE` form. */
  readonly credential?: CredentialForm;
};

/** A row that always has a value. */
export type DefaultedVariable<T> = ConfigVariable<T> & {
  readonly fallback: (home: string) => T;
};

/** Variables whose names are not ours to list; all of them count as secret. */
export type ConfigFamily = {
  readonly prefix: string;
  readonly role: string;
  readonly purpose: string;
};
