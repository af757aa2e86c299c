/**
 * What the shell gives to each route: the request id, a log that writes it, and the caller's address.
 *
 * @module
 */
import type { Context, Hono } from 'hono';
import type { Connection } from '../http-server.ts';

/** Callers pass ids, codes and counts only: no bodies, headers or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The part of pino's logger that the shell and its routes use. */
export type ShellLog = {
  /** A log that writes the fields into each of its lines. */
  child(fields: LogFields): ShellLog;
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

export type ShellEnv = {
  Bindings: Connection;
  Variables: {
    requestId: string;
    /** Writes the request id into each line. A route that knows its job sets a child with the trace id. */
    log: ShellLog;
    /** IPv4 address or IPv6 /64 that the request came from, for limits. */
    callerAddress: string;
    /** Code of the error that was answered, for the log line. */
    answeredCode: string | undefined;
  };
};
export type Shell = Hono<ShellEnv>;
export type ShellContext = Context<ShellEnv>;
