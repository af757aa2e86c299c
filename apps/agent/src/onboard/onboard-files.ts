/**
 * The files that `onboard` writes: the configuration with the credentials, and a proposal for chains.json.
 *
 * @module
 */
import type { Capability } from '@pool/api';
import { type EvidenceDomain, PoolError } from '@pool/core';
import type { RemoteHolderConfig } from '../config/custody-config.ts';
import type { HolderConfig } from '../config/holder-config.ts';
import type { OnboardPlan } from './onboard-plan.ts';
import type { Onboarded } from './onboard-session.ts';

/**
 * A complete agent.env. Secret.
 * @throws PoolError `platform_invalid_response` if a value cannot be in such a file: a line break in it would set another variable
 */
export function renderAgentEnv(
  plan: OnboardPlan,
  { employerId, edgeToken, keys, bootstrap }: Onboarded,
  config: { readonly holder: HolderConfig; readonly chain: string | undefined },
): string {
  const base = plan.platformUrl;
  const lines = [
    '# Written by `disburse-agent onboard`. It contains credentials: keep its mode 0600 and make no copies.',
    '# Private keys are not copied into it.',
    '',
    '# The platform',
    `DISBURSE_PLATFORM_URL=${base}/agent-edge`,
    `DISBURSE_PLATFORM_TOKEN=${edgeToken.reveal()}`,
    `DISBURSE_PLATFORM_VERIFY_URL=${base}/api/employers/verify-key`,
    '# The account that this agent belongs to. The agent refuses a platform that names another one.',
    `DISBURSE_EMPLOYER_ID=${employerId}`,
    '',
    '# Default chain. Pools, tokens and RPCs are in chains.json, which a person writes and checks.',
    `DISBURSE_CHAIN=${config.chain ?? bootstrap.chain}`,
    '',
    ...describeFunder(keys.get('disburse')?.reveal()),
    '',
    ...describeHolder(plan, config.holder),
    '',
    '# Credentials of the holder operations; each has one capability. An empty variable is unset.',
    `DISBURSE_BALANCE_TOKEN=${reveal(keys, 'holder.read')}`,
    `DISBURSE_TRANSFER_TOKEN=${reveal(keys, 'holder.transfer')}`,
    `DISBURSE_SEND_TOKEN=${reveal(keys, 'holder.send')}`,
    "# Destinations of withdrawals besides the holder's own wallet: label=address, separated by commas.",
    'DISBURSE_SEND_DESTINATIONS=',
    '# Ceilings of one call in base units. Without one, only the requested amount bounds a call.',
    'DISBURSE_TRANSFER_MAX_AMOUNT=',
    'DISBURSE_SEND_MAX_AMOUNT=',
  ];
  for (const line of lines) {
    assertPlainLine(line);
  }
  return `${lines.join('\n')}\n`;
}

/** Quotes begin a quoted value, a `#` can begin a comment, and a line break begins another variable. */
function assertPlainLine(line: string): void {
  const [name = '', ...rest] = line.split('=');
  const isAssignment = /^[A-Z][A-Z0-9_]*$/.test(name) && rest.length > 0;
  const isPlain = isAssignment
    ? /^[\x21-\x7e]*$/.test(rest.join('=')) && !/["'`#\\]/.test(rest.join('='))
    : line === '' || /^#[\x20-\x7e]*$/.test(line);
  if (!isPlain) {
    throw new PoolError(
      'platform_invalid_response',
      `the value of ${isAssignment ? name : 'a comment'} has a character that a configuration file cannot contain, so nothing was written`,
    );
  }
}

function reveal(keys: Onboarded['keys'], capability: Capability): string {
  return keys.get(capability)?.reveal() ?? '';
}

function describeFunder(disburseKey: string | undefined): readonly string[] {
  const lines = [
    "# The funder's key, for disbursements: name the file that contains it.",
    '#DISBURSE_FUNDER_PRIVATE_KEY_FILE=',
  ];
  return disburseKey === undefined
    ? lines
    : [
        ...lines,
        '# An API key with the capability disburse, for callers of POST /api/disburse. The agent itself does not read it:',
        `# ${disburseKey}`,
      ];
}

function describeHolder(
  { holder }: OnboardPlan,
  { signer, viewingKey, remote }: HolderConfig,
): readonly string[] {
  if (holder === undefined) {
    return ['# The holder', `#DISBURSE_HOLDER_SIGNER=${signer}`];
  }
  return [
    `# The holder ${holder.address}`,
    `DISBURSE_HOLDER_SIGNER=${signer}`,
    ...(remote === undefined ? describeLocalKey(signer) : describeRemote(remote)),
    ...(viewingKey === undefined
      ? []
      : [
          '# Its escrowed viewing key. Name the file that contains it:',
          '#DISBURSE_HOLDER_VIEWING_KEY_FILE=',
        ]),
    '# P. The agent compares it with the one that its viewing key gives.',
    `DISBURSE_HOLDER_ENCRYPTION_PUBKEY=${holder.encryptionPublicKey}`,
  ];
}

function describeLocalKey(signer: HolderConfig['signer']): readonly string[] {
  return [
    '# Name the file that contains its key:',
    signer === 'local-ed25519'
      ? '#DISBURSE_HOLDER_ED25519_KEY_FILE='
      : '#DISBURSE_HOLDER_PRIVATE_KEY_FILE=',
  ];
}

/** Everything but the credentials, which are not copied. */
function describeRemote(remote: RemoteHolderConfig): readonly string[] {
  switch (remote.kind) {
    case 'enclave': {
      const { socketPath, rootSha256, pcrs, deterministic } = remote.enclave;
      const pins = pcrs.map((pcr, index) => `${index}=${Buffer.from(pcr).toString('hex')}`);
      return [
        `DISBURSE_HOLDER_ENCLAVE_SOCKET=${socketPath}`,
        `DISBURSE_HOLDER_ENCLAVE_WALLET_PUB=${remote.walletPub}`,
        `DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256=${Buffer.from(rootSha256).toString('hex')}`,
        `DISBURSE_HOLDER_ENCLAVE_PCRS=${pins.join(',')}`,
        ...(deterministic ? [] : ['DISBURSE_HOLDER_ENCLAVE_DETERMINISTIC=false']),
      ];
    }
    case 'custodian_a':
      return [
        `DISBURSE_CUSTODIAN_A_URL=${remote.account.url}`,
        ...(remote.account.origin === undefined
          ? []
          : [`DISBURSE_CUSTODIAN_A_ORIGIN=${remote.account.origin}`]),
        `DISBURSE_CUSTODIAN_A_HEADER_PREFIX=${remote.account.headerPrefix}`,
        `DISBURSE_CUSTODIAN_A_CREDENTIAL_ID=${remote.account.credentialId}`,
        `DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID=${remote.walletId}`,
        `DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB=${remote.walletPub}`,
        `DISBURSE_APPROVE_URL=${remote.approve.url}`,
        '# Its credentials. Name the files that contain them:',
        '#DISBURSE_CUSTODIAN_A_SERVICE_TOKEN_FILE=',
        '#DISBURSE_CUSTODIAN_A_SERVICE_KEY_FILE=',
        '#DISBURSE_APPROVE_TOKEN_FILE=',
      ];
  }
}

/**
 * A proposal for chains.json from what the platform vends. The values that a platform does not vend are null, so that an agent does not
 * start with the file before a person has completed it.
 */
export function renderChainsProposal(
  evidence: EvidenceDomain,
  { chains, maxRecipients }: Onboarded['bootstrap'],
): string {
  const proposed = Object.entries(chains).map(([key, { chainId, pool, registry, tokens }]) => ({
    [key]: {
      family: 'evm',
      chainId,
      rpcUrl: null,
      pool,
      registry,
      deployedAtBlock: null,
      finality: null,
      maxRecipients: maxRecipients[key] ?? null,
      tokens: Object.fromEntries(
        Object.entries(tokens).map(([symbol, address]) => [symbol, { address, decimals: null }]),
      ),
    },
  }));
  const file = { evidence, chains: Object.assign({}, ...proposed) as object };
  return `${JSON.stringify(file, null, 2)}\n`;
}
