/**
 * The mutants of what a constructor checks and keeps.
 *
 * @module
 */
import type { Mutant } from './mutant.ts';

const pool = 'solidity/ShieldedPool.sol';
const registry = 'solidity/EligibilityRegistry.sol';

export const constructionMutants: readonly Mutant[] = [
  ...['registry', 'entry.verifier'].map((of) => ({
    name: `a pool without code at ${of}`,
    file: pool,
    find: `_requireCode(address(${of}));`,
    replace: '',
  })),
  {
    name: 'a verifier with another key than the given one',
    file: 'solidity/KeyVerifier.sol',
    find: 'key[21] = _ic3Y;',
    replace: 'key[21] = _ic3X;',
  },
  {
    name: 'a verifier that keeps another word of the given key',
    file: 'solidity/KeyVerifier.sol',
    find: '_alphaX = key[0];',
    replace: '_alphaX = key[1];',
  },
  {
    name: 'a verifier with another word of the given key in the first place',
    file: 'solidity/KeyVerifier.sol',
    find: 'key[0] = _alphaX;',
    replace: 'key[0] = _alphaY;',
  },
  {
    name: 'a pool asks for code and takes an account without',
    file: pool,
    find: 'if (account.code.length == 0) revert NoCode(account);',
    replace: 'account;',
  },
  ...[
    [
      'the same verifier at two places',
      '_fundVerifier3) = (found[0], found[1]',
      '_fundVerifier3) = (found[0], found[0]',
    ],
    [
      'the same size at two places',
      '_fundKey3) = (keys[0], keys[1]',
      '_fundKey3) = (keys[0], keys[0]',
    ],
    ['a circuit of the other kind', '(entry.inputs == 0) != ofFund', 'false'],
    ['a list that is too long', 'count == PLACES || ', ''],
    ['a circuit without commitments', ' || entry.outputs == 0', ''],
    ['a list without a kind', 'if (count == 0) revert InvalidVerifiers();', ''],
    ['a free place that a call finds', 'keys[count++] = FREE', 'keys[count++] = 0'],
  ].map(([name = '', find = '', replace = '']) => ({
    name: `a pool keeps ${name}`,
    file: pool,
    find,
    replace,
  })),
  ...[
    ['a shorter grace period', 'gracePeriod < SHORTEST_GRACE || ', ''],
    ['a longer grace period', ' || gracePeriod > LONGEST_GRACE', ''],
    ['the shortest grace period is refused', '< SHORTEST_GRACE', '<= SHORTEST_GRACE'],
    ['the longest grace period is refused', '> LONGEST_GRACE', '>= LONGEST_GRACE'],
    ['a grace period one second too short', 'SHORTEST_GRACE = 3_000', 'SHORTEST_GRACE = 2_999'],
    ['a grace period one second too long', 'LONGEST_GRACE = 1 days', 'LONGEST_GRACE = 1 days + 1'],
    ['a grace period that is not the given one', '= gracePeriod;', '= SHORTEST_GRACE;'],
  ].map(([name = '', find = '', replace = '']) => ({ name, file: registry, find, replace })),
];
