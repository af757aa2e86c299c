/**
 * Calls of the platform, which is at the page's own origin. Once it is gone, a proxy, a CDN or a folder of files can answer there instead.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/**
 * Fetches from the platform. It answers in JSON, and names the code of each error.
 * @throws PoolError `platform_unreachable` (retryable) for an answer that is not the platform's
 */
export async function fetchPlatform(input: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  if (await isOfPlatform(answer)) return answer;
  const found = answer.type === 'opaqueredirect' ? 'a redirect' : `status ${answer.status}`;
  throw new PoolError(
    'platform_unreachable',
    `something answers in place of the platform (${found}, not in its format); try again later`,
  );
}

async function isOfPlatform(answer: Response): Promise<boolean> {
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  if (!isJson || answer.ok) return isJson;
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null && 'code' in body;
}
