/**
 * The kinds of value that only the agent's variables hold.
 *
 * @module
 */
import {
  accept,
  choice,
  type Kind,
  matching,
  reject,
  secret,
  serviceUrl,
} from '@pool/configuration';
import { isAmountString, isPoolError, parseEvmAddress } from '@pool/core';
import { parseJobStoreUrl } from '@pool/idempotency';
import { employerIdSchema, faultPoints } from '@pool/operations';
import { funderKinds } from '@pool/signers';
import { spendFaultPoints } from '@pool/wallet';
import * as v from 'valibot';

/** The platform's base URL and its path for agents. The base URL alone answers 404 to everything that an agent asks. */
export const edgeUrl: Kind<string> = {
  label: 'URL',
  parse(value) {
    const parsed = serviceUrl.parse(value);
    return parsed.kind === 'value' && !/\/agent-edge\/?$/.test(new URL(value).pathname)
      ? reject("must end with /agent-edge: write that path after the platform's base URL")
      : parsed;
  },
};

/** Where proofs are computed. */
export const accelerators = ['auto', 'webgpu', 'cpu'] as const;

/**
 * Named points at which a test ends the process: the pipeline's, those around accepting a request or cancellation, and those of spends.
 */
export const agentFaultPoints = [
  'claim.before-store',
  'claim.after-store',
  'cancel.before-store',
  'cancel.after-store',
  ...faultPoints,
  ...spendFaultPoints.map((point) => `spend:${point}` as const),
] as const;
export type AgentFaultPoint = (typeof agentFaultPoints)[number];

/** The README lists the points in a section of their own. */
export const faultPoint: Kind<AgentFaultPoint> = { ...choice(agentFaultPoints), label: 'point' };

export const funderSigner = choice(
  funderKinds,
  `must be ${funderKinds.slice(0, -1).join(', ')} or ${funderKinds.at(-1)}; leave it unset for the local key`,
);

export const chainKey = matching(
  'chain key',
  (value) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(value),
  'must be a chain key: lower-case letters, digits and hyphens',
);

export const tokenSymbol = matching(
  'token symbol',
  (value) => /^(?!0x)[A-Za-z0-9.]{1,16}$/.test(value),
  'must be a token symbol, never an address',
);

/** A ceiling in base units. */
export const baseUnits: Kind<bigint> = {
  label: 'base units',
  parse: (value) =>
    isAmountString(value)
      ? accept(BigInt(value))
      : reject(
          'must be a positive whole number of base units, without sign, point or leading zero; unset it for no ceiling',
        ),
};

/** An amount of the chain's own coin, in wei. */
export const coinAmount: Kind<bigint> = {
  label: "amount of the chain's own coin, for example `0.05`",
  parse(value) {
    const [, whole, fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,18}))?$/.exec(value) ?? [];
    const wei = whole === undefined ? 0n : BigInt(whole + fraction.padEnd(18, '0'));
    return wei > 0n
      ? accept(wei)
      : reject("must be an amount of the chain's own coin above 0, with at most 18 decimals");
  },
};

export const jobStore: Kind<string> = {
  label: '`sqlite:<path>`, `postgres://user@host/database` or `memory:`',
  parse(value) {
    const place = parseJobStoreUrl(value);
    return typeof place === 'string' ? reject(place) : accept(value);
  },
};

export const proofQueue: Kind<string> = {
  label: '`postgres://user@host/database`',
  parse(value) {
    const place = parseJobStoreUrl(value);
    if (typeof place === 'string') {
      return reject(place);
    }
    return place.kind === 'postgres'
      ? accept(value)
      : reject('must be postgres://user@host/database');
  },
};

export const ageRecipient = matching(
  'age recipient',
  (value) => /^age1[a-z0-9]{58}$/.test(value),
  'must be the public key that `disburse-agent prover --new-key` printed: age1…',
);

export const ageIdentity = secret(
  matching(
    'age identity',
    (value) => /^AGE-SECRET-KEY-1[A-Z0-9]{58}$/.test(value),
    'must be the private key in the file that `disburse-agent prover --new-key` wrote',
  ),
);

export const spendJournal = matching(
  '`sqlite:<path>` or `memory:`',
  (value) => /^(?:sqlite:.+|memory:)$/.test(value),
  'must be sqlite:<path> or memory:',
);

export const employerId: Kind<string> = {
  label: 'UUID',
  parse(value) {
    const id = v.safeParse(employerIdSchema, value);
    return id.success ? accept(id.output) : reject('must be a UUID');
  },
};

export const secretBytes = secret(
  matching(
    '32 bytes of hex',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be 32 bytes of lower-case hex with 0x',
  ),
);

const destinationLabel = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/**
 * The pinned destinations of `send`, as checksummed addresses by label. `send` names a destination by its label only,
 * so a label cannot look like an address. Problems name an entry by its position and never quote it.
 */
export const destinations: Kind<ReadonlyMap<string, string>> = {
  label: '`label=address`, comma separated',
  parse(text) {
    const found = new Map<string, string>();
    const problems: string[] = [];
    for (const [index, entry] of text.split(',').entries()) {
      const problem = readDestination(entry.trim(), found);
      if (problem !== undefined) {
        problems.push(`entry ${index + 1} ${problem}`);
      }
    }
    return problems.length === 0 ? accept(found) : reject(...problems);
  },
};

function readDestination(entry: string, found: Map<string, string>): string | undefined {
  if (entry === '') {
    return 'is empty: write label=address pairs with one comma between them';
  }
  const [name = '', address = '', ...rest] = entry.split('=').map((part) => part.trim());
  if (address === '' || rest.length > 0) {
    return 'must be label=address';
  }
  if (!destinationLabel.test(name)) {
    return 'needs a label of up to 32 letters, digits, dots, hyphens or underscores that begins with a letter';
  }
  const folded = name.toLowerCase();
  if ([...found.keys()].some((label) => label.toLowerCase() === folded)) {
    return 'repeats the label of an earlier entry; upper and lower case count as the same';
  }
  try {
    found.set(name, parseEvmAddress(address));
    return undefined;
  } catch (error) {
    return isPoolError(error) ? `has an invalid address: ${error.message}` : 'is wrong';
  }
}
