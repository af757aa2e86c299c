/**
 * A wrapper that keeps a secret out of logs, errors and JSON: every way of printing it shows `[redacted]`,
 * and only {@link Secret.reveal} gives the value.
 *
 * @module
 */
const redacted = '[redacted]';

/** Holds one secret value. */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The secret itself. Call it at the last moment, and never store the result. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return redacted;
  }
}
