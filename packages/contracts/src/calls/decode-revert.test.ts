import { AbiCoder, type ErrorFragment, Interface } from 'ethers';
import { describe, expect, it } from 'vitest';
import { eligibilityRegistryAbi } from '../generated/eligibility-registry.ts';
import { shieldedPoolAbi } from '../generated/shielded-pool.ts';
import { decodeRevert } from './decode-revert.ts';
import { shieldedPoolInterface } from './shielded-pool.ts';

function errorsOf(abi: Interface): ErrorFragment[] {
  const errors: ErrorFragment[] = [];
  abi.forEachError((fragment) => errors.push(fragment));
  return errors;
}

/** Revert data of an error with all arguments zero. */
function encodeError({ selector, inputs }: ErrorFragment): string {
  const coder = AbiCoder.defaultAbiCoder();
  return selector + coder.encode(inputs, coder.getDefaultValue(inputs)).slice(2);
}

describe('decodeRevert', () => {
  const errors = [
    ...errorsOf(shieldedPoolInterface),
    ...errorsOf(new Interface(eligibilityRegistryAbi)),
    // Errors about the constructor's name and version, which are short constants: they cannot occur.
  ].filter(({ name }) => name !== 'InvalidShortString' && name !== 'StringTooLong');

  it.each(errors.map((fragment) => [fragment.name, fragment] as const))(
    'has a sentence for %s',
    (name, fragment) => {
      const { code, message } = decodeRevert(encodeError(fragment));
      expect(code.replaceAll('-', '')).toBe(name.toLowerCase());
      expect(message).toMatch(/^[A-Z].*\.$/);
      expect(message).not.toContain(code);
    },
  );

  it('knows every error of the pool', () => {
    const names = errorsOf(new Interface(shieldedPoolAbi)).map(({ name }) => name);
    expect(names).toContain('BatchNonceUsed');
    expect(errors.length).toBeGreaterThan(20);
  });

  it('finds the data in each place where providers put it', () => {
    const data = shieldedPoolInterface.encodeErrorResult('InvalidProof', []);
    const expected = { code: 'invalid-proof', message: 'The proof does not hold for this call.' };
    expect(decodeRevert(data)).toEqual(expected);
    expect(decodeRevert({ data })).toEqual(expected);
    expect(decodeRevert({ info: { error: { data } } })).toEqual(expected);
    expect(decodeRevert({ error: { data: { data } } })).toEqual(expected);
    expect(decodeRevert(new Error('wrapped', { cause: { data } }))).toEqual(expected);
  });

  it('repeats no argument of an error', () => {
    const nonce = `0x${'ab'.repeat(32)}`;
    const { message } = decodeRevert(
      shieldedPoolInterface.encodeErrorResult('BatchNonceUsed', [
        '0x00000000000000000000000000000000000000a1',
        nonce,
      ]),
    );
    expect(message).not.toContain('abab');
  });

  it('names the reason of a plain require, cut and without control characters', () => {
    const reason = `no\u0007 ${'x'.repeat(500)}`;
    const data = `0x08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], [reason]).slice(2)}`;
    const { code, message } = decodeRevert({ data });
    expect(code).toBe('reverted');
    expect(message).toContain('no xxx');
    expect(message.length).toBeLessThan(260);
  });

  it('returns reverted for unknown data', () => {
    for (const unknown of [
      undefined,
      null,
      7,
      {},
      'boom',
      { data: '0x' },
      { data: '0x12345678' },
    ]) {
      expect(decodeRevert(unknown).code).toBe('reverted');
    }
  });
});
