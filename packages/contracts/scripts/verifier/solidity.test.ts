import type { G1Json, G2Json, VerificationKey } from '@pool/circuits';
import { describe, expect, it } from 'vitest';
import { renderVerifier } from './solidity.ts';

function g1(x: number): G1Json {
  return [String(x), String(x + 1), '1'];
}
function g2(x: number): G2Json {
  return [
    [String(x), String(x + 1)],
    [String(x + 2), String(x + 3)],
    ['1', '0'],
  ];
}
const key: VerificationKey = {
  protocol: 'groth16',
  curve: 'bn128',
  nPublic: 3,
  vk_alpha_1: g1(100),
  vk_beta_2: g2(200),
  vk_gamma_2: g2(300),
  vk_delta_2: g2(400),
  IC: [g1(500), g1(510), g1(520), g1(530)],
};
function render(
  change: Partial<Record<keyof VerificationKey, unknown>> = {},
  isDevelopmentKey = false,
): string {
  return renderVerifier({
    circuit: 'test',
    contract: 'TestVerifier',
    key: { ...key, ...change } as VerificationKey,
    isDevelopmentKey,
  });
}

describe('renderVerifier', () => {
  it('writes the imaginary part of G2 first (EIP-197) and everything else in order', () => {
    const words = [...render().matchAll(/mstore\(add\(key, \d+\), (0x[0-9a-f]{64})\)/g)].map(
      ([, w]) => Number(w),
    );
    expect(words).toEqual([
      ...[100, 101],
      ...[201, 200, 203, 202],
      ...[301, 300, 303, 302],
      ...[401, 400, 403, 402],
      ...[500, 501, 510, 511, 520, 521, 530, 531],
    ]);
  });

  it('guards the constructor for development keys only', () => {
    expect(render({}, true)).toContain('revert DevelopmentKeyOnPublicChain(block.chainid)');
    expect(render({}, false)).not.toContain('constructor');
  });

  it('refuses keys of another shape', () => {
    const wrong = [
      { protocol: 'plonk' },
      { curve: 'bls12381' },
      { nPublic: 2 },
      { IC: key.IC.slice(1) },
      { vk_alpha_1: ['1', '2', '0'] },
      {
        vk_beta_2: [
          ['1', '2'],
          ['3', '4'],
          ['0', '0'],
        ],
      },
      { vk_alpha_1: [(1n << 254n).toString(), '2', '1'] },
      { vk_alpha_1: ['0x1', '2', '1'] },
    ];
    for (const change of wrong) {
      expect(() => render(change), JSON.stringify(change)).toThrow(
        expect.objectContaining({ code: 'verification_key_malformed' }) as Error,
      );
    }
  });
});
