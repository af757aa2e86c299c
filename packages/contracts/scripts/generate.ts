/**
 * Writes everything in this package that is generated, or with `--check` only compares:
 *   solidity/lib/PoseidonT3.sol   from the Poseidon parameters
 *   solidity/verifiers/*.sol      from the verification keys of packages/circuits
 *   src/generated/*.ts            ABI and bytecode, from forge's output
 *   scripts/gas/generated/*.ts    the same for contracts that are only measured
 *
 * The keys are read as files, not imported as a package: contracts and circuits are on one level, and
 * only this generated output connects them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { VerificationKey } from '@pool/circuits';
import { type ForgeArtifact, renderArtifact, toKebab } from './abi/typescript.ts';
import { runForge } from './forge.ts';
import { computeSchedule } from './poseidon/schedule.ts';
import { renderPoseidon } from './poseidon/solidity.ts';
import { renderVerifier } from './verifier/solidity.ts';

const verifiers = [
  { circuit: 'fund-16', contract: 'Fund16Verifier' },
  { circuit: 'fund-64', contract: 'Fund64Verifier' },
  { circuit: 'fund-256', contract: 'Fund256Verifier' },
  { circuit: 'spend-2x4', contract: 'Spend2x4Verifier' },
  { circuit: 'spend-16x8', contract: 'Spend16x8Verifier' },
];
const deployedContracts = [
  'ShieldedPool',
  'EligibilityRegistry',
  'NoteTree',
  'Fund16Verifier',
  'Fund64Verifier',
  'Fund256Verifier',
  'Spend2x4Verifier',
  'Spend16x8Verifier',
  'PoolTestToken',
  'ZeroFirstTestToken',
];
/** Deployed by the gas measurement alone, so not part of what ships. */
const measuredContracts = ['PublicBatchTransfer', 'TrapdoorVerifier'];

const isCheck = process.argv.includes('--check');
const stale: string[] = [];

function put(path: string, content: string): void {
  const url = new URL(`../${path}`, import.meta.url);
  if (existsSync(url) && readFileSync(url, 'utf8') === content) return;
  if (isCheck) {
    stale.push(path);
    return;
  }
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, content);
}

async function readVerificationKeys(): Promise<{
  readonly isDevelopmentKey: boolean;
  readonly keys: Readonly<Record<string, VerificationKey>>;
}> {
  const circuits = new URL('../../circuits/', import.meta.url);
  const manifest = JSON.parse(readFileSync(new URL('artifacts.json', circuits), 'utf8')) as {
    readonly setup: string;
  };
  const module = (await import(new URL('src/generated/verification-keys.ts', circuits).href)) as {
    readonly verificationKeys: Readonly<Record<string, VerificationKey>>;
  };
  return { isDevelopmentKey: manifest.setup.startsWith('INSECURE'), keys: module.verificationKeys };
}

put('solidity/lib/PoseidonT3.sol', renderPoseidon(computeSchedule()));

const { isDevelopmentKey, keys } = await readVerificationKeys();
for (const { circuit, contract } of verifiers) {
  const key = keys[circuit];
  if (key === undefined) throw new Error(`packages/circuits has no verification key of ${circuit}`);
  put(
    `solidity/verifiers/${contract}.sol`,
    renderVerifier({ circuit, contract, key, isDevelopmentKey }),
  );
}

if (runForge(['build', '--quiet']) !== 0) throw new Error('forge build failed');
function renderCompiled(contract: string, artifactModule: string): string {
  const output = new URL(`../out/${contract}.sol/${contract}.json`, import.meta.url);
  const artifact = JSON.parse(readFileSync(output, 'utf8')) as ForgeArtifact;
  return renderArtifact(contract, artifact, artifactModule);
}
for (const contract of deployedContracts) {
  put(`src/generated/${toKebab(contract)}.ts`, renderCompiled(contract, '../artifact.ts'));
}
for (const contract of measuredContracts) {
  const artifactModule = '../../../src/artifact.ts';
  put(`scripts/gas/generated/${toKebab(contract)}.ts`, renderCompiled(contract, artifactModule));
}

if (stale.length > 0) {
  process.stderr.write(`not up to date, run pnpm generate: ${stale.join(', ')}\n`);
  process.exitCode = 1;
}
