/**
 * The mutants of what a constructor checks and keeps.
 *
 * @module
 */
import type { Mutant } from './mutant.ts';

const pool = 'solidity/ShieldedPool.sol';
const registry = 'solidity/EligibilityRegistry.sol';

export const constructionMutants: readonly Mutant[] = [
  ...[
    'registry',
    ...['fund16', 'fund64', 'fund256', 'spend2x4', 'spend16x8'].map((of) => `verifiers.${of}`),
  ].map((of) => ({
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
    ['fund16', 'fund64'],
    ['fund64', 'fund16'],
    ['fund256', 'fund64'],
    ['spend2x4', 'spend16x8'],
    ['spend16x8', 'spend2x4'],
  ].map(([of = '', other = '']) => ({
    name: `a pool keeps ${other} as ${of}`,
    file: pool,
    find: `${of}Verifier = verifiers.${of};`,
    replace: `${of}Verifier = verifiers.${other};`,
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
