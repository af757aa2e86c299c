/**
 * How a settlement or a spend is refused: with the field and the reason, never with a value.
 *
 * @module
 */
import type { Delivery } from '@pool/api';
import { type EvmAddress, type EvmChainSettings, isPoolError, PoolError } from '@pool/core';

/** Suite byte of a note sealed to a Baby Jubjub key, the only suite of an EVM pool. */
const evmSuite = '0x01';

export const { refuse, attempt, assertNotes, assertToken } = createRefusals(
  'invalid_settlement',
  'settlement',
);

export const spendRefusals = createRefusals('invalid_spend', 'spend');

function createRefusals(code: 'invalid_settlement' | 'invalid_spend', what: string) {
  /** @returns PoolError `invalid_settlement` or `invalid_spend` (400) */
  function refuse(reason: string, cause?: unknown): PoolError {
    return new PoolError(code, `${what} refused: ${reason}`, { cause });
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

  /** @param place - of the commitments in the request */
  function assertNotes(
    sealedNotes: Delivery['sealedNotes'],
    commitments: number,
    place: string,
  ): void {
    assertThat(sealedNotes.length === commitments, `sealedNotes and ${place} differ in number`);
    for (const [slot, { sealed }] of sealedNotes.entries()) {
      assertThat(sealed.startsWith(evmSuite), `sealedNotes.${slot}.sealed is of another suite`);
    }
  }

  function assertToken(
    token: EvmAddress,
    { tokens }: Pick<EvmChainSettings, 'tokens'>,
    place: string,
  ): void {
    const known = Object.values(tokens).map(({ address }) => address.toLowerCase());
    assertThat(known.includes(token.toLowerCase()), `${place} is not a token of this chain`);
  }
  return { refuse, attempt, assertThat, assertNotes, assertToken };
}
