/**
 * How a settlement or a spend is refused: with the field and the reason, never with a value.
 *
 * @module
 */
import type { Delivery } from '@pool/api';
import {
  type EvmAddress,
  type EvmChainSettings,
  type Field,
  isPoolError,
  PoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';

/** Suite byte of a note sealed to a Baby Jubjub key, the only suite of an EVM pool. */
const evmSuite = '0x01';

/** @param place - of the batch or the spend in its request */
function createRefusals(what: 'settlement' | 'spend', place: 'batch' | 'spend') {
  /** @returns PoolError `invalid_settlement` or `invalid_spend` (400) */
  function refuse(reason: string, cause?: unknown): PoolError {
    return new PoolError(`invalid_${what}`, `${what} refused: ${reason}`, { cause });
  }

  /** @throws PoolError naming the field and the code of what `parse` threw */
  function attempt<T>(path: string, parse: () => T): T {
    try {
      return parse();
    } catch (cause) {
      throw refuse(`${path} (${isPoolError(cause) ? cause.code : 'malformed'})`, cause);
    }
  }

  function assertThat(holds: boolean, reason: string): void {
    if (!holds) {
      throw refuse(reason);
    }
  }

  return {
    refuse,
    attempt,
    assertThat,
    field: <Name extends string>(of: Readonly<Record<Name, string>>, name: Name): Field =>
      attempt(`${place}.${name}`, () => parseField(of[name])),
    fields: <Name extends string>(
      of: Readonly<Record<Name, readonly string[]>>,
      name: Name,
    ): Field[] =>
      of[name].map((word, at) => attempt(`${place}.${name}.${at}`, () => parseField(word))),
    assertNotes(sealedNotes: Delivery['sealedNotes'], commitments: readonly unknown[]): void {
      assertThat(
        sealedNotes.length === commitments.length,
        `sealedNotes and ${place}.commitments differ in number`,
      );
      for (const [slot, { sealed }] of sealedNotes.entries()) {
        assertThat(sealed.startsWith(evmSuite), `sealedNotes.${slot}.sealed is of another suite`);
      }
    },
    parseToken(text: string, { tokens }: Pick<EvmChainSettings, 'tokens'>): EvmAddress {
      const token = attempt(`${place}.token`, () => parseEvmAddress(text));
      const known = Object.values(tokens).map(({ address }) => address.toLowerCase());
      assertThat(
        known.includes(token.toLowerCase()),
        `${place}.token is not a token of this chain`,
      );
      return token;
    },
  };
}

export const settlementRefusals = createRefusals('settlement', 'batch');
export const spendRefusals = createRefusals('spend', 'spend');
