/**
 * Whether a server answered a malformed request as every server of Pool must.
 *
 * @module
 */
import { type RawCase, rawCanary } from './raw-cases.ts';
import type { RawAnswer, RawExchange } from './raw-client.ts';

/** @returns what is wrong, in words; nothing: all is well */
export function findRawProblems(
  rawCase: Pick<RawCase, 'expected' | 'isKept' | 'mayEndEarly'>,
  exchange: RawExchange,
): readonly string[] {
  const { answers, text, isClosed } = exchange;
  const statuses = answers.map(({ status }) => status);
  const problems = answers.flatMap(findAnswerProblems);
  const expected =
    rawCase.mayEndEarly === true && isClosed ? rawCase.expected.slice(0, 1) : rawCase.expected;
  const isExpected =
    statuses.length >= expected.length &&
    statuses.length <= rawCase.expected.length &&
    statuses.every((status, index) => rawCase.expected[index]?.includes(status));
  if (!isExpected) {
    problems.push(`answered [${statuses.join(', ')}], not ${JSON.stringify(rawCase.expected)}`);
  }
  if (text.includes(rawCanary)) {
    problems.push('an answer repeats the request');
  }
  if (rawCase.isKept !== true && !isClosed) {
    problems.push('the connection stayed open');
  }
  return problems;
}

function findAnswerProblems({ status, headers, body }: RawAnswer): string[] {
  const problems: string[] = [];
  if (status >= 500) {
    problems.push(`status ${status}`);
  }
  if (!/^application\/json/.test(headers['content-type'] ?? '')) {
    problems.push('not JSON');
  }
  if (!/^[0-9a-f-]{36}$/.test(headers['x-request-id'] ?? '')) {
    problems.push('no x-request-id');
  }
  if (headers['cache-control'] !== 'no-store') {
    problems.push('may be stored');
  }
  if (headers['x-content-type-options'] !== 'nosniff') {
    problems.push('may be sniffed');
  }
  if (Object.keys(headers).some((name) => name.startsWith('access-control-'))) {
    problems.push('opens itself to other origins');
  }
  if (status >= 400) {
    const { code, message } = JSON.parse(body) as Record<string, unknown>;
    if (typeof code !== 'string' || typeof message !== 'string' || message === '') {
      problems.push('not {code, message}');
    }
  }
  return problems;
}
