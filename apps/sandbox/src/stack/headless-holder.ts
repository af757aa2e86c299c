/**
 * A recipient without a browser: the agent's own `onboard` command signs in, enrols the wallet, mints the keys of the holder
 * operations and writes `agent.env`. The person then adds what the command leaves open, as its comments ask.
 *
 * @module
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChainsFile, type Hex, PoolError, type Secret } from '@pool/core';
import type { FunderKind } from '@pool/signers';
import { findFreePorts } from '@pool/testkit';
import { deriveHolder, type Holder } from '../chain/people.ts';
import { runAgentCommand } from '../processes/agent-command.ts';
import { placeSecrets, writePrivate } from '../processes/env-file.ts';

export type HeadlessHolder = Holder & {
  /** Names the home `<name>-home` in the sandbox directory. */
  readonly name: string;
  readonly home: string;
  /** API keys of the wallet, by what they reach. */
  readonly keys: { readonly read: string; readonly transfer: string; readonly send: string };
};

/** Where the holder's agent will live, and which platform and chains it is for. */
export type OnboardPlace = {
  readonly directory: string;
  readonly platformUrl: string;
  readonly chains: ChainsFile;
};

/** A holder whose key is in custody. */
export type HolderSigner = {
  /** Keys of the holder. Its viewing key is in the agent's home only if the signer cannot derive one. */
  readonly holder: Holder;
  /** Variables of the agent, without the viewing key. */
  readonly variables: Readonly<Record<string, string>>;
  /** How `onboard` signs in: a signer that votes cannot derive the viewing key. */
  readonly login: 'holder' | FunderKind;
};

/**
 * Enrols the wallet and prepares the home of its agent.
 * @param input.privateKey - in a file of the agent's home. Absent: the key is in custody
 * @param input.settings - added to `agent.env`, for example `DISBURSE_SEND_DESTINATIONS`
 * @throws PoolError `sandbox_failed`
 */
export async function onboardHolder(
  place: OnboardPlace,
  input: {
    readonly name: string;
    readonly privateKey?: Secret<Hex>;
    readonly custody?: HolderSigner;
    readonly settings?: Readonly<Record<string, string>>;
  },
): Promise<HeadlessHolder> {
  const { name, settings = {} } = input;
  const home = join(place.directory, `${name}-home`);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writePrivate(join(home, 'chains.json'), `${JSON.stringify(place.chains, undefined, 2)}\n`);
  const { holder, variables, login } = await prepareSigner(place, home, input);
  // The signer's own variables come before onboarding, in the file that the command then completes.
  const environment = { DISBURSE_HOME: home, ...variables };
  const { code, stdout } = await runAgentCommand({ environment }, [
    ...['onboard', '--platform', place.platformUrl, '--enroll-holder', '--login', login],
    ...['--capabilities', 'holder.read,holder.transfer,holder.send'],
  ]);
  if (code !== 0 || !stdout.includes('enrolled: ready')) {
    throw new PoolError('sandbox_failed', `onboard did not enrol ${name}: ${stdout.trim()}`);
  }
  const [port = 0] = await findFreePorts(1);
  const path = join(home, 'agent.env');
  writePrivate(
    path,
    setVariables(readFileSync(path, 'utf8'), {
      ...variables,
      DISBURSE_PORT: String(port),
      ...settings,
    }),
  );
  const written = readFileSync(path, 'utf8');
  const read = (variable: string): string =>
    new RegExp(`^${variable}=(.*)$`, 'm').exec(written)?.[1] ?? '';
  return {
    ...holder,
    name,
    home,
    keys: {
      read: read('DISBURSE_BALANCE_TOKEN'),
      transfer: read('DISBURSE_TRANSFER_TOKEN'),
      send: read('DISBURSE_SEND_TOKEN'),
    },
  };
}

/** The variables of the holder's signer. Secrets of several lines are in files of the home. */
async function prepareSigner(
  place: OnboardPlace,
  home: string,
  input: { readonly privateKey?: Secret<Hex>; readonly custody?: HolderSigner },
): Promise<HolderSigner> {
  const { privateKey, custody } = input;
  if (custody !== undefined) {
    const { holder, variables, login } = custody;
    const keyPath = join(home, 'viewing.key');
    const escrowed: Record<string, string> = {};
    if (login !== 'holder') {
      writePrivate(keyPath, `${holder.viewingKey}\n`);
      escrowed['DISBURSE_HOLDER_VIEWING_KEY_FILE'] = keyPath;
    }
    return { holder, login, variables: { ...placeSecrets(home, variables), ...escrowed } };
  }
  if (privateKey === undefined) {
    throw new PoolError('internal_error', 'a holder needs a key or a signer');
  }
  const keyPath = join(home, 'holder.key');
  writePrivate(keyPath, `${privateKey.reveal()}\n`);
  return {
    holder: await deriveHolder(privateKey, place),
    variables: { DISBURSE_HOLDER_PRIVATE_KEY_FILE: keyPath },
    login: 'holder',
  };
}

/** Each variable on one line of its own: a line that sets it, or a comment for it, is replaced. */
function setVariables(text: string, values: Readonly<Record<string, string>>): string {
  const names = Object.keys(values);
  const others = text
    .split('\n')
    .filter((line) => !names.includes(line.replace(/^#/, '').split('=')[0] ?? ''));
  const lines = Object.entries(values).map(([variable, value]) => `${variable}=${value}`);
  return [...others, ...lines, ''].join('\n');
}
