/**
 * What the page was set up for: `chains.json` beside it, in the format of the agents, with one chain. The platform is the page's own origin.
 *
 * @module
 */
import {
  chainsFileSchema,
  type EvidenceDomain,
  type EvmChainSettings,
  PoolError,
  parseStrictJson,
  parseWire,
} from '@pool/core';

export type Place = {
  /** Folder of the page. */
  readonly page: URL;
  /** Base URL of the platform. */
  readonly platformUrl: string;
  /** Domain and URI that its sign-in texts name. */
  readonly evidence: EvidenceDomain;
  readonly chain: { readonly key: string; readonly settings: EvmChainSettings };
};

/**
 * @param page - folder of the page, an absolute URL with a slash at its end
 * @throws PoolError `invalid_configuration`; `platform_unreachable` (retryable)
 */
export async function fetchPlace(page: URL): Promise<Place> {
  const file = new URL('chains.json', page);
  const answer = await fetch(file, { cache: 'no-cache' }).catch((cause: unknown) => {
    throw new PoolError('platform_unreachable', `${file.href} cannot be read`, { cause });
  });
  if (!answer.ok) {
    throw new PoolError(
      'invalid_configuration',
      `${file.href} answers ${answer.status}; its operator puts the settings of the chain there`,
    );
  }
  const value = parseStrictJson(await answer.text(), 'chains.json');
  const { evidence, chains } = parseWire(chainsFileSchema, value, 'chains.json');
  const [chain, ...others] = Object.entries(chains);
  if (chain === undefined || others.length > 0) {
    throw new PoolError(
      'invalid_configuration',
      `${file.href} must have exactly one chain with a pool, which the page uses`,
    );
  }
  const [key, settings] = chain;
  return { page, platformUrl: page.origin, evidence, chain: { key, settings } };
}
