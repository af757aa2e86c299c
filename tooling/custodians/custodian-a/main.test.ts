/** The simulator as a process: one JSON line, a restart that keeps its state, a clean end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { createClient } from './fixtures/client.ts';
import { hash, walletId, walletKey } from './fixtures/requests.ts';
import { createSampleOrganisation } from './sample.ts';
import { serveCustodianA } from './serve.ts';

const directory = mkdtempSync(join(tmpdir(), 'pool-custodian-a-'));
const script = fileURLToPath(new URL('main.ts', import.meta.url));
const path = `/wallets/${walletId}/signatures`;
const organisation = createSampleOrganisation(
  { [walletId]: walletKey },
  { stateFile: join(directory, 'state.json') },
);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--conditions=@pool/source', script, ...args], {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

it('serves its configuration, keeps its state over a restart, and ends on SIGTERM', async () => {
  const configFile = join(directory, 'config.json');
  writeFileSync(configFile, JSON.stringify(organisation.config));
  const child = start([configFile]);
  const ended = once(child, 'exit');
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString('utf8')) as { url: string };
  const before = await createClient(url, organisation.initiator).send('POST', path, hash);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);

  const served = await serveCustodianA(organisation.config);
  const { id, approvalId } = before.body;
  const gate = createClient(served.url, organisation.approver);
  const vote = { value: 'Approved' };
  const after = await gate.send('POST', `/v2/policy-approvals/${approvalId}/decisions`, vote);
  await served.close();
  expect(after.body).toMatchObject({ status: 'Approved', activity: { signatureRequest: { id } } });
});

it('names every wrong field of its configuration, without values', async () => {
  const { config } = organisation;
  const wrong = { ...config, wallets: [{ id: 'wa', network: 'Ethereum', privateKey: 'secret' }] };
  const error: unknown = await serveCustodianA({ ...wrong, port: -1 }).catch((e: unknown) => e);
  expect(String(error)).toContain('port: ');
  expect(String(error)).toContain('wallets.0.privateKey: ');
  expect(String(error)).not.toContain('secret');
});
