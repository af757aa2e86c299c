/** What the configuration says of the relayer's coin and gas, and of a holder's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseGateConfig, parsePlatformConfig } from './config.ts';
import type { Environment } from './config-reader.ts';
import { createTestEnvironments } from './fixtures/test-environment.ts';

describe('configuration', () => {
  let directory: string;
  let platform: Environment;
  let gate: Environment;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'pool-config-'));
    ({ platform, gate } = createTestEnvironments(directory));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('caps the cost of a transaction in the chain’s coin, also for the gate’s publications', () => {
    const costOf = (text: string) => [
      ...parsePlatformConfig({ ...platform, PLATFORM_RELAYER_MAX_COST_COIN: text }).maxCost,
    ];
    expect(costOf('')).toEqual([]);
    expect(costOf('0.05')).toEqual([['anvil', 50_000_000_000_000_000n]]);
    expect(costOf('anvil=0.000000000000000001')).toEqual([['anvil', 1n]]);
    for (const text of ['0', '-1', '1e3', '0.0000000000000000001', 'other=1', '1,2']) {
      expect(() => costOf(text)).toThrow('PLATFORM_RELAYER_MAX_COST_COIN');
    }
    expect(parseGateConfig(gate).publisherCaps).toEqual({});
    expect(
      parseGateConfig({
        ...gate,
        GATE_PUBLISHER_MAX_FEE_GWEI: '50',
        GATE_PUBLISHER_MAX_COST_COIN: '0.05',
      }).publisherCaps,
    ).toEqual({ maxFeePerGas: 50_000_000_000n, maxCostWei: 50_000_000_000_000_000n });
    expect(() => parseGateConfig({ ...gate, GATE_PUBLISHER_MAX_FEE_GWEI: 'x' })).toThrow(
      'GATE_PUBLISHER_MAX_FEE_GWEI',
    );
  });

  it('has a day’s gas for a holder, makes no note paths, and serves past roots for 50 minutes', () => {
    const defaults = { holderDailyGas: 20_000_000, makesNotePaths: false };
    expect(parsePlatformConfig(platform)).toMatchObject(defaults);
    expect(parseGateConfig(gate).pastRootSeconds).toBe(3_000);
    const set = { PLATFORM_HOLDER_DAILY_GAS: '2000000', PLATFORM_NOTE_PATHS: 'on' };
    expect(parsePlatformConfig({ ...platform, ...set })).toMatchObject({
      holderDailyGas: 2_000_000,
      makesNotePaths: true,
    });
    expect(parseGateConfig({ ...gate, GATE_PAST_ROOT_SECONDS: '0' }).pastRootSeconds).toBe(0);
    for (const [name, value] of [
      ['PLATFORM_HOLDER_DAILY_GAS', '1999999'],
      ['PLATFORM_NOTE_PATHS', 'yes'],
    ] as const) {
      expect(() => parsePlatformConfig({ ...platform, [name]: value })).toThrow(name);
    }
    expect(() => parseGateConfig({ ...gate, GATE_PAST_ROOT_SECONDS: '-1' })).toThrow(
      'GATE_PAST_ROOT_SECONDS',
    );
  });

  it('reads the total of the relayer’s coin, and the gas of employers without a token of the operator', () => {
    const { relayerDailyWei, selfEnrolledDailyGas } = parsePlatformConfig({
      ...platform,
      PLATFORM_RELAYER_DAILY_COIN: 'anvil=0.5',
      PLATFORM_SELF_ENROLLED_DAILY_GAS: '0',
    });
    expect([...relayerDailyWei]).toEqual([['anvil', 5n * 10n ** 17n]]);
    expect(selfEnrolledDailyGas).toBe(0);
    expect(parsePlatformConfig(platform).selfEnrolledDailyGas).toBe(4_000_000);
    for (const text of ['0', 'other=1', '-1']) {
      expect(() => parsePlatformConfig({ ...platform, PLATFORM_RELAYER_DAILY_COIN: text })).toThrow(
        'PLATFORM_RELAYER_DAILY_COIN',
      );
    }
  });

  it('reads the daily gas of an employer and the vote limit', () => {
    expect(parsePlatformConfig(platform)).toMatchObject({
      employerDailyGas: 100_000_000,
      voteLimitSeconds: 86_400,
    });
    const set = { PLATFORM_EMPLOYER_DAILY_GAS: '5000000', PLATFORM_VOTE_LIMIT_SECONDS: '3600' };
    expect(parsePlatformConfig({ ...platform, ...set })).toMatchObject({
      employerDailyGas: 5_000_000,
      voteLimitSeconds: 3_600,
    });
    // Too little for a single batch.
    expect(() =>
      parsePlatformConfig({ ...platform, PLATFORM_EMPLOYER_DAILY_GAS: '4999999' }),
    ).toThrow('PLATFORM_EMPLOYER_DAILY_GAS');
  });

  it('caps the relayer’s fees for every chain or for those named, in gwei', () => {
    const capsOf = (text: string) => [
      ...parsePlatformConfig({ ...platform, PLATFORM_RELAYER_MAX_FEE_GWEI: text }).maxFeePerGas,
    ];
    expect(capsOf('')).toEqual([]);
    expect(capsOf('50')).toEqual([['anvil', 50_000_000_000n]]);
    expect(capsOf('anvil=0.000000001')).toEqual([['anvil', 1n]]);
    expect(capsOf(' anvil = 12.5 ,')).toEqual([['anvil', 12_500_000_000n]]);
    for (const [text, problem] of [
      ['0', 'above 0'],
      ['-1', 'above 0'],
      ['1e3', 'above 0'],
      ['0.0000000001', 'above 0'],
      ['anvil=', 'above 0'],
      ['anvil=CANARY', 'above 0'],
      ['CANARY=1', 'names a chain'],
      ['1,anvil=2', 'twice'],
    ] as const) {
      expect(() => capsOf(text)).toThrow(`PLATFORM_RELAYER_MAX_FEE_GWEI`);
      expect(() => capsOf(text)).toThrow(problem);
      expect(() => capsOf(text)).not.toThrow('CANARY');
    }
  });
});
