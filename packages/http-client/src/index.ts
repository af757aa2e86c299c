/**
 * Outbound HTTP of clients and signers.
 *
 * @module
 */

export {
  type BoundedAnswer,
  type Fetch,
  fetchBounded,
  observeRequests,
  readJson,
  readText,
  type Service,
} from './fetch-bounded.ts';
export {
  createHttpClient,
  describeAnswer,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpExchange,
  isSuccess,
} from './http-client.ts';
export { type Cut, tooLarge } from './read-cut-json.ts';
