/**
 * Where a signed answer comes from: a file, standard input, or an https address that the operator gives.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { type Fetch, fetchBounded, readText } from '@pool/http-client';
import { readFile } from './release-files.ts';

export type ReleaseSource = {
  /** For messages. */
  readonly name: string;
  readonly text: string;
};

const maxBytes = 1024 * 1024;
const timeoutMs = 10_000;

/**
 * Follows no redirect, and reads JSON of at most 1 MiB within 10 seconds.
 * @param place - a path, `-`, or an https address
 * @param fetch - connects to public addresses only
 * @throws PoolError `invalid_release`
 */
export async function readReleaseSource(place: string, fetch: Fetch): Promise<ReleaseSource> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) {
    return { name: place, text: readFile(place) };
  }
  const url = parseAddress(place);
  // The path can be a secret of its service.
  const refused = (what: string, cause?: unknown): PoolError =>
    new PoolError('invalid_release', `${url.origin}: ${what}; nothing was stored`, { cause });
  const init = { headers: { accept: 'application/json' } };
  const { status, headers, body } = await fetchBounded(
    { fetch, url, init, service: 'webhook', timeoutMs, maxBytes },
    readText,
  ).catch((cause: unknown) => {
    throw refused(
      isPoolError(cause) && cause.code === 'webhook_target_refused'
        ? 'it has an address that is not public; fetch the file yourself and import it'
        : 'no answer of at most 1 MiB came within 10 seconds, without a redirect',
      cause,
    );
  });
  if (status !== 200) {
    throw refused(`it answered ${status}`);
  }
  if (!/^application\/json *(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    throw refused('its answer is not JSON (application/json)');
  }
  return { name: url.origin, text: body };
}

/** A path may end in a slash, and may have a query: it is the address of one document. */
function parseAddress(place: string): URL {
  const url = URL.canParse(place) ? new URL(place) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new PoolError(
      'invalid_release',
      'the address must begin with https:// and hold no name or password; nothing was stored',
    );
  }
  return url;
}
