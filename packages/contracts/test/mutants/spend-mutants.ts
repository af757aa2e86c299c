/**
 * The mutants of `spend` and of its libraries.
 *
 * @module
 */
import type { Mutant } from './mutant.ts';

const pool = 'solidity/ShieldedPool.sol';
const authorization = 'solidity/lib/SpendAuthorization.sol';
const statement = 'solidity/lib/SpendStatement.sol';

/** Removes a piece of text. */
function without(name: string, file: string, find: string): Mutant {
  return { name: `spend: ${name}`, file, find, replace: '' };
}

/** Replaces a piece of text. */
function change(name: string, file: string, find: string, replace: string): Mutant {
  return { name: `spend: ${name}`, file, find, replace };
}

const modifiers = '        external\n        nonReentrant\n';
const firstComparison = '_requireSigner(ecrecover(bytes32(digest), v, r, s), x, y, mask);';
const secondComparison =
  '_requireSigner(ecrecover(bytes32(addmod(digest, N - rSig, N)), v, r, s), shiftedX, shiftedY, mask);';

export const spendMutants: readonly Mutant[] = [
  change('can be re-entered', pool, modifiers, '        external\n'),
  change('a pause stops it', pool, modifiers, `${modifiers}        whenNotPaused\n`),
  change('only the relayer', pool, modifiers, `${modifiers}        onlyRole(RELAYER_ROLE)\n`),
  change(
    'a disabled token stops it',
    pool,
    'assetId = _assets[operation.token] & ~ENABLED;',
    'assetId = _assets[operation.token] & ENABLED == 0 ? 0 : _assets[operation.token] ^ ENABLED;',
  ),
  without('any token', pool, 'if (assetId == 0) revert TokenNotKnown(operation.token);'),
  change(
    'the deadline is one second late',
    pool,
    'block.timestamp > operation.deadline',
    'block.timestamp > operation.deadline + 1',
  ),
  change(
    'the deadline is one second early',
    pool,
    'block.timestamp > operation.deadline',
    'block.timestamp >= operation.deadline',
  ),
  without(
    'an amount above 128 bits',
    pool,
    'if (amount > MAX_TOTAL) revert WithdrawAmountOutOfRange(amount);',
  ),
  change(
    'a recipient without an amount',
    pool,
    '(recipient == address(0)) != (amount == 0)',
    'recipient == address(0) && amount != 0',
  ),
  change(
    'an amount without a recipient',
    pool,
    '(recipient == address(0)) != (amount == 0)',
    'recipient != address(0) && amount == 0',
  ),
  without('the pool as recipient', pool, ' || recipient == address(this)'),
  without('the token as recipient', pool, ' || recipient == operation.token'),
  without('a zero outRoot', pool, 'if (operation.outRoot == 0) revert ZeroBatchRoot();'),
  without(
    'a used nullifier',
    pool,
    'if (_outRoots[nullifier] != 0) _refuseNullifier(nullifiers, i);',
  ),
  without(
    'the reason of a nullifier twice in one call',
    pool,
    'if (nullifiers[i] == nullifier) revert NullifierRepeated(nullifier);',
  ),
  without('nullifiers are not marked', pool, '_outRoots[nullifier] = outRoot;'),
  change(
    'the last nullifier is not marked',
    pool,
    'function _useNullifiers(uint256[] calldata nullifiers, uint256 outRoot) private {\n        for (uint256 i = 0;',
    'function _useNullifiers(uint256[] calldata nullifiers, uint256 outRoot) private {\n        for (uint256 i = 1;',
  ),
  without(
    'any note root',
    pool,
    'if (_tree.madeBy[operation.noteRoot] == 0) revert NoteRootNotKnown(operation.noteRoot);',
  ),
  change(
    'any eligibility root',
    pool,
    'if (eligibilityRoot != 0 && !eligibilityRegistry',
    'if (false && !eligibilityRegistry',
  ),
  without('the registry is asked about the root 0', pool, 'eligibilityRoot != 0 && '),
  without(
    'sealed notes of any length',
    pool,
    'if (sealedNotes.length != expected) revert WrongSealedNotesLength(expected, sealedNotes.length);',
  ),
  change(
    'the sealed notes are not bound',
    pool,
    'return keccak256(sealedNotes);',
    'return keccak256("");',
  ),
  without('no signature', pool, 'SpendAuthorization.requireValid(operation);'),
  change(
    'any proof',
    pool,
    'ProofCheck.requireValid(verifier, proof, SpendStatement.encode(assetId, operation, sealedNotesHash));',
    'verifier;',
  ),
  ...[1, 2, 3].map((place) =>
    change(
      `the spend at place ${place} checks with the verifier before it`,
      pool,
      `return _spendVerifier${place};`,
      `return _spendVerifier${place - 1};`,
    ),
  ),
  change(
    'the first spend checks with the first batch',
    pool,
    'return _spendVerifier0;',
    'return _fundVerifier0;',
  ),
  without('any outputs', pool, ' | outputs'),
  without('any inputs', pool, '(inputs << 128) | '),
  change(
    'any size',
    pool,
    'revert UnsupportedSpendSize(inputs, outputs)',
    'return _spendVerifier0',
  ),
  change(
    'the outputs are not inserted',
    pool,
    '(uint64 index, uint256 newRoot) = _append(outRoot);',
    '(uint64 index, uint256 newRoot) = (_batchCount, _tree.computeRoot(_batchCount));',
  ),
  change('a token that takes more', pool, 'if (sent != amount)', 'if (sent < amount)'),
  change('a token that moves nothing', pool, 'if (sent != amount)', 'if (sent > amount)'),
  change(
    'nothing is paid',
    pool,
    'if (operation.withdrawAmount != 0) {',
    'if (operation.withdrawAmount == 1) {',
  ),
  change('a transfer calls the token', pool, 'if (operation.withdrawAmount != 0) {', 'if (true) {'),
  change(
    'an alias of a nullifier is looked up',
    pool,
    'if (uint256(nullifier) >= PublicInputs.R) revert PublicInputs.FieldElementOutOfRange();',
    '',
  ),

  without('one comparison: the second alone', authorization, firstComparison),
  without('one comparison: the first alone', authorization, secondComparison),
  change(
    'the second comparison repeats the first digest',
    authorization,
    'addmod(digest, N - rSig, N)',
    'digest',
  ),
  without('an aliased digest', authorization, 'digest >= N || '),
  without('an rSig of n or more', authorization, 'rSig >= N || '),
  without('any parity', authorization, ' || operation.parity > 1'),
  without("W'x of p or more", authorization, 'x >= P || '),
  without("W'y of p or more", authorization, ' || y >= P'),
  without("the generator as W'", authorization, 'x == GX || '),
  without('any slope', authorization, ' || !isSlope'),
  without('what is no signature', authorization, 'signer == address(0) || '),
  change('no address is compared', authorization, 'type(uint160).max', '0'),

  ...[
    ['no sealed notes', 'sealedNotesHash', 'sealedNotes[:0]'],
    ['all sealed notes but the first', 'sealedNotesHash', 'sealedNotes[209:]'],
    ['the whole call in place of the sealed notes', 'sealedNotesHash', 'msg.data'],
    ['another hash than that of its sealed notes', 'bytes32(outRoot)', 'sealedNotes'],
    ['no hash', 'bytes32(0)', 'sealedNotes'],
  ].map(([name, hash, notes]) =>
    change(
      `the event carries ${name ?? ''}`,
      pool,
      'sealedNotesHash,\n            sealedNotes\n',
      `${hash ?? ''},\n            ${notes ?? ''}\n`,
    ),
  ),

  ...[
    '_put(position, assetId)',
    '_put(position, operation.withdrawAmount)',
    '_put(position, uint160(operation.recipient))',
    '_put(position, operation.deadline)',
    '_putHalves(position, uint256(sealedNotesHash))',
    '_put(position, operation.outRoot)',
    '_put(position, operation.noteRoot)',
    '_put(position, operation.eligibilityRoot)',
    '_putHalves(position, operation.maskedX)',
    '_putHalves(position, operation.maskedY)',
    '_putHalves(position, operation.maskedDigest)',
    '_putHalves(position, operation.rSig)',
  ].map((find) =>
    change(`x has 0 in the place of ${find}`, statement, find, find.replace(/, .*/, ', 0)')),
  ),
  change(
    'x has the commitments twice',
    statement,
    '_putAll(position, operation.nullifiers)',
    '_putAll(position, operation.commitments)',
  ),
  change(
    'x has the nullifiers twice',
    statement,
    '_putAll(position, operation.commitments)',
    '_putAll(position, operation.nullifiers)',
  ),
  change('lo is not cut', statement, 'shr(128, shl(128, value))', 'value'),
  change('hi is 0', statement, 'mstore(add(position, 0x20), shr(128, value))', ''),
  change(
    'the last element is left out',
    statement,
    'shl(5, values.length)',
    'shl(4, values.length)',
  ),
  change('the array keeps its memory free', statement, 'mstore(0x40, position)', ''),
];
