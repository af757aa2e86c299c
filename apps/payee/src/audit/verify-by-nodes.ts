/**
 * What a disclosure proves to somebody who has RPCs of its chain, and nothing else (docs/disclosure.md, "In a browser").
 *
 * @module
 */
import {
  type Disclosure,
  disclosureSchema,
  type EvidenceDomain,
  type EvmAddress,
  errorCodeOf,
  type Hex32,
  parseWire,
  type TokenUnit,
} from '@pool/core';
import { type DisclosureReport, type VerificationTerms, verifyDisclosure } from '@pool/notes';
import {
  askAll,
  createEvmRecords,
  createFacts,
  type EvmRecords,
  fetchDisclosedEvents,
} from '@pool/wallet/evm';

export type DisclosureTerms = VerificationTerms & {
  /** The platform whose sign-in texts bind an encryption key to a wallet. Undefined: such texts prove nothing. */
  readonly evidenceDomain?: EvidenceDomain | undefined;
};

/** Where a verifier without settings of the agent looks. */
export type VerifierPlace = {
  /** From the verifier's own source, and not from the discloser. */
  readonly pool: EvmAddress;
  /** One or more. What they do not all answer is not used. */
  readonly rpcUrls: readonly string[];
};

export type NodeVerification = {
  readonly report: DisclosureReport;
  /** Unix seconds of the blocks with the payments, by transaction. Empty if nothing is proved. */
  readonly times: ReadonlyMap<Hex32, number>;
  /** Of the document's token, from its contract: a foreign text. Undefined: the contract does not say it, or nothing is proved. */
  readonly unit: TokenUnit | undefined;
};

/** The largest number of decimals of a token in chains.json. */
const maxDecimals = 36;

/**
 * Verifies by RPCs alone, which must serve the chain that the document names. Final blocks are those that they tag `finalized`.
 *
 * @param document - parsed JSON, untrusted
 * @throws PoolError `wrong_chain`, `chain_unreachable`, `nodes_disagree`
 */
export async function verifyByNodes(
  document: unknown,
  { pool, rpcUrls }: VerifierPlace,
  { evidenceDomain, ...terms }: DisclosureTerms,
  createRecords: (node: Parameters<typeof createEvmRecords>[0]) => EvmRecords = createEvmRecords,
): Promise<NodeVerification> {
  const parsed = tryParse(document);
  if (parsed === undefined) {
    const report = verifyDisclosure(document, { chainId: 0, pool, insertions: [] }, terms);
    return { report, times: new Map(), unit: undefined };
  }
  const { chainId, token } = parsed;
  const finality = { kind: 'finalized-tag' } as const;
  const nodes = rpcUrls.map((rpcUrl) => createRecords({ chainId, rpcUrl, pool, finality }));
  try {
    const events = await fetchDisclosedEvents(document, { chainId, pool }, nodes);
    const report = verifyDisclosure(document, { ...createFacts(events), evidenceDomain }, terms);
    if (!report.payments.some(({ exists }) => exists.state === 'proved')) {
      return { report, times: new Map(), unit: undefined };
    }
    const times = new Map<Hex32, number>();
    for (const { txHash, blockNumber } of events.events) {
      times.set(txHash, await askAll(nodes, (node) => node.fetchBlockTime(blockNumber)));
    }
    return { report, times, unit: await fetchUnit(token, nodes) };
  } finally {
    for (const node of nodes) {
      node.close();
    }
  }
}

function tryParse(document: unknown): Disclosure | undefined {
  try {
    return parseWire(disclosureSchema, document, 'disclosure');
  } catch {
    return undefined;
  }
}

/** A token need not have a symbol. Its amounts are proved without it. */
async function fetchUnit(
  token: EvmAddress,
  nodes: readonly EvmRecords[],
): Promise<TokenUnit | undefined> {
  try {
    const unit = await askAll(nodes, (node) => node.fetchTokenUnit(token));
    return unit.decimals <= maxDecimals ? unit : undefined;
  } catch (error) {
    if (errorCodeOf(error) === 'chain_unreachable') {
      return undefined;
    }
    throw error;
  }
}
