/**
 * `disburse-agent tenancy show`, `keys` and `new`: the employer of this agent, the keys in its job store, and the only
 * way to change the employer (docs/decisions/0008).
 *
 * @module
 */

import { errorCodeOf, PoolError, type Secret } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import {
  createFingerprinter,
  createTenancy,
  findFingerprintKey,
  normalizeEmployerId,
  readTenancyPin,
  replacePinnedEmployer,
  type TenancyPin,
  tenancyPinPath,
} from '@pool/operations';
import { exitCodes } from '../exit-codes.ts';
import { isAtRisk, listStoredKeys, type StoredKey } from '../ledger/stored-keys.ts';
import type { Output } from '../ports.ts';

/** The agent's own settings, and its platform. */
export type TenancyPlace = {
  readonly home: string;
  readonly jobs: JobStorePlace;
  /** `DISBURSE_EMPLOYER_ID`. */
  readonly employerId: string | undefined;
  readonly fingerprintKey: Secret | undefined;
  bootstrap(): Promise<{ readonly employerId: string }>;
};

export type NewTenancyOptions = {
  /** The new employer's id. */
  readonly accept?: string;
  readonly leaveOpen?: boolean;
};

type Print = Pick<Output, 'out'>;

/** `new` prints this many keys and counts the rest. */
const shownKeys = 20;

/** @returns the exit code: 0 when directory, variable and platform agree */
export async function showTenancy(config: TenancyPlace, { out }: Print): Promise<number> {
  const pin = readTenancyPin(config.home);
  const named = await askPlatform(config);
  const keys = await listStoredKeys(config.jobs);
  const verdict = await judge(config, named, keys);
  out(
    [
      describePin(config, pin),
      `DISBURSE_EMPLOYER_ID: ${config.employerId ?? 'not set'}`,
      `the platform: ${named.employerId ?? `does not answer (${named.code})`}`,
      ...(pin?.earlier ?? []).map(
        (one) => `earlier employer: ${one.employerId}, until ${one.until}`,
      ),
      ...describeEmployers(keys),
      `fingerprint key: ${describeFingerprintKey(config)}`,
      verdict ?? 'directory, variable and platform agree',
    ].join('\n'),
  );
  return verdict === undefined ? exitCodes.ok : exitCodes.error;
}

/** CSV on standard output: employer, key, state, whether it was paid, time of acceptance. */
export async function listTenancyKeys(
  { jobs }: Pick<TenancyPlace, 'jobs'>,
  { out }: Print,
): Promise<number> {
  const rows = (await listStoredKeys(jobs)).map((row) => [
    row.employerId,
    row.key,
    row.state,
    row.paid,
    new Date(row.createdAtMs).toISOString(),
  ]);
  const header = ['employerId', 'key', 'state', 'paid', 'acceptedAt'];
  out([header, ...rows].map((cells) => cells.map(quote).join(',')).join('\n'));
  return exitCodes.ok;
}

/** Begins a new tenancy with `--accept`; without it, reports the consequences. */
export async function beginTenancy(
  config: TenancyPlace,
  options: NewTenancyOptions,
  { out }: Print,
): Promise<number> {
  const pin = readTenancyPin(config.home);
  const named = await askPlatform(config);
  const keys = await listStoredKeys(config.jobs);
  if (options.accept === undefined) {
    out(
      [
        describePin(config, pin),
        `the platform: ${named.employerId ?? `does not answer (${named.code})`}`,
        ...describeRisk(keys, named.employerId),
        'nothing was changed. To begin a new tenancy: disburse-agent tenancy new --accept <new employerId>',
      ].join('\n'),
    );
    return exitCodes.refused;
  }
  const employerId = parseAccepted(options.accept, config, named.employerId);
  if (pin?.employerId === employerId) {
    out(`${tenancyPinPath(config.home)} already names this employer; nothing was changed`);
    return exitCodes.ok;
  }
  const open = keys.filter((row) => row.paid === 'open' && !isOf(row, employerId));
  if (open.length > 0 && options.leaveOpen !== true) {
    throw new PoolError(
      'invalid_tenancy',
      `${open.length} job(s) of another employer are underway: wait until they have ended. With --leave-open they remain in the job store, and an agent continues them only after this directory has returned to their employer`,
    );
  }
  replacePinnedEmployer(config.home, employerId, Date.now());
  out(
    [
      `${tenancyPinPath(config.home)} now names employer ${employerId}; start the agent again`,
      ...describeRisk(keys, employerId),
    ].join('\n'),
  );
  return exitCodes.ok;
}

function parseAccepted(text: string, config: TenancyPlace, named: string | undefined): string {
  const employerId = normalizeEmployerId(text);
  if (employerId === undefined) {
    throw new PoolError('invalid_tenancy', '--accept requires the employerId, a UUID');
  }
  if (named !== undefined && named !== employerId) {
    throw new PoolError(
      'invalid_tenancy',
      `the platform names employer ${named} to this agent, not the one after --accept: check DISBURSE_PLATFORM_URL and DISBURSE_PLATFORM_TOKEN`,
    );
  }
  if (config.employerId !== undefined && config.employerId !== employerId) {
    throw new PoolError(
      'invalid_tenancy',
      'DISBURSE_EMPLOYER_ID names another employer than --accept: change or unset it first',
    );
  }
  return employerId;
}

type Named = { readonly employerId: string | undefined; readonly code: string | undefined };

async function askPlatform(config: TenancyPlace): Promise<Named> {
  try {
    const { employerId } = await config.bootstrap();
    return { employerId: normalizeEmployerId(employerId), code: undefined };
  } catch (error) {
    return { employerId: undefined, code: errorCodeOf(error) ?? 'no answer' };
  }
}

/** The refusal of an agent with this directory. Undefined: it would not refuse. */
async function judge(
  config: TenancyPlace,
  named: Named,
  keys: readonly StoredKey[],
): Promise<string | undefined> {
  const tenancy = createTenancy({
    home: config.home,
    configured: config.employerId,
    listStoredEmployers: async () => keys.map(({ employerId }) => employerId),
    nowMs: Date.now,
  });
  try {
    const expected = tenancy.employerId();
    const employerId = named.employerId ?? expected;
    if (employerId !== undefined) {
      await tenancy.assert(employerId);
    }
    return undefined;
  } catch (error) {
    if (error instanceof PoolError) {
      return `${error.code}: ${error.message}`;
    }
    throw error;
  }
}

/** All agents of an employer share this key, so that each recognises the requests of the others. */
function describeFingerprintKey({ home, fingerprintKey }: TenancyPlace): string {
  const key = fingerprintKey ?? findFingerprintKey(home);
  return key === undefined ? 'created at the first start' : createFingerprinter(key).keyId;
}

function describePin(config: TenancyPlace, pin: TenancyPin | undefined): string {
  const path = tenancyPinPath(config.home);
  return pin === undefined
    ? `no employer is pinned yet: ${path} is written at the first bootstrap`
    : `employer: ${pin.employerId}, pinned ${pin.pinnedAt} in ${path}`;
}

function describeEmployers(keys: readonly StoredKey[]): string[] {
  return [...Map.groupBy(keys, ({ employerId }) => employerId)].map(([employerId, rows]) => {
    const paid = rows.filter((row) => row.paid === 'yes').length;
    const open = rows.filter((row) => row.paid === 'open').length;
    return `job store: ${rows.length} key(s) of employer ${employerId}, ${paid} paid, ${open} underway`;
  });
}

/** @param next - the new employer: its own keys cannot be paid a second time */
function describeRisk(keys: readonly StoredKey[], next: string | undefined): string[] {
  const atRisk = keys.filter((row) => isAtRisk(row) && !isOf(row, next));
  if (atRisk.length === 0) {
    return ['the job store contains no key of another employer that was or may be paid'];
  }
  const rest = atRisk.length - shownKeys;
  return [
    `${atRisk.length} key(s) were or may be paid for another employer. Under a new tenancy the same keys pay again:`,
    ...atRisk.slice(0, shownKeys).map(({ key, paid }) => `  ${key} (${describePaid(paid)})`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    'to write them all to a file: disburse-agent tenancy keys > keys.csv',
  ];
}

function describePaid(paid: StoredKey['paid']): string {
  switch (paid) {
    case 'yes':
      return 'paid';
    case 'open':
      return 'underway';
    case 'no':
    case 'unknown':
      return 'possibly paid';
  }
}

function isOf(row: StoredKey, employerId: string | undefined): boolean {
  return employerId !== undefined && normalizeEmployerId(row.employerId) === employerId;
}

/** Keys are printable ASCII, so they can contain commas and quotes. */
function quote(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
