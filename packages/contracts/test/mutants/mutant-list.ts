/**
 * The mutants that `mutants.ts` applies: each removes or weakens one check of a contract.
 *
 * @module
 */
import { constructionMutants } from './construction-mutants.ts';
import type { Mutant } from './mutant.ts';
import { spendMutants } from './spend-mutants.ts';

const pool = 'solidity/ShieldedPool.sol';
const registry = 'solidity/EligibilityRegistry.sol';
const tree = 'solidity/lib/NoteTree.sol';
const inputs = 'solidity/lib/PublicInputs.sol';
const verifier = 'solidity/Groth16Verifier.sol';
const signature = 'solidity/lib/FunderSignature.sol';
const check = 'solidity/lib/ProofCheck.sol';
const fundStatement = 'solidity/lib/FundStatement.sol';

export const mutants: readonly Mutant[] = [
  { name: 'anyone is relayer', file: pool, find: ' onlyRole(RELAYER_ROLE)', replace: '' },
  { name: 'pause is ignored', file: pool, find: ' whenNotPaused', replace: '' },
  { name: 'fund can be re-entered', file: pool, find: ' nonReentrant when', replace: ' when' },
  {
    name: 'any token',
    file: pool,
    find: 'if (asset & ENABLED == 0) revert TokenNotEnabled(batch.token);',
    replace: '',
  },
  { name: 'total of zero', file: pool, find: 'batch.total == 0 || ', replace: '' },
  { name: 'total above 128 bits', file: pool, find: ' || batch.total > MAX_TOTAL', replace: '' },
  {
    name: 'zero batch root',
    file: pool,
    find: 'if (batch.batchRoot == 0) revert ZeroBatchRoot();',
    replace: '',
  },
  {
    name: 'batchId: a nonce twice',
    file: pool,
    find: 'if (state != 0) revert BatchNonceUsed(batch.funder, batch.batchNonce);',
    replace: '',
  },
  {
    name: 'batchId: voided batches land',
    file: pool,
    find: 'if (state == VOIDED) revert BatchIsVoided(batch.funder, batch.batchNonce);',
    replace: 'if (state == VOIDED) state = 0;',
  },
  {
    name: 'batchId: the funder is left out',
    file: pool,
    find: 'keccak256(abi.encode(funder, batchNonce))',
    replace: 'keccak256(abi.encode(batchNonce))',
  },
  {
    name: 'batchId: the proof speaks about the bare nonce',
    file: fundStatement,
    find: 'words[3] = uint256(batchId);',
    replace: 'words[3] = uint256(batch.batchNonce);',
  },
  {
    name: 'batchId: left out of the proof',
    file: fundStatement,
    find: 'words[3] = uint256(batchId);',
    replace: '',
  },
  {
    name: 'batchId: the event names the bare nonce',
    file: pool,
    find: 'bytes32(newRoot), batchId, ',
    replace: 'bytes32(newRoot), batch.batchNonce, ',
  },
  {
    name: 'batchId: a void counts as a use',
    file: pool,
    find: 'return state == VOIDED ? bytes32(0) : state;',
    replace: 'return state;',
  },
  {
    name: 'the deadline is one second late',
    file: pool,
    find: 'block.timestamp > batch.deadline',
    replace: 'block.timestamp > batch.deadline + 1',
  },
  {
    name: 'the deadline is one second early',
    file: pool,
    find: 'block.timestamp > batch.deadline',
    replace: 'block.timestamp >= batch.deadline',
  },
  {
    name: 'any eligibility root',
    file: pool,
    find: 'if (!eligibilityRegistry.accepted(batch.eligibilityRoot)) {',
    replace: 'if (false) {',
  },
  {
    name: 'the signature misses the sealed notes',
    file: pool,
    find: 'batch.sealedNotesHash,\n                    batch.deadline',
    replace: 'bytes32(0),\n                    batch.deadline',
  },
  {
    name: 'any proof',
    file: pool,
    find: 'ProofCheck.requireValid(verifier, proof, FundStatement.encode(assetId, batchId, batch));',
    replace: 'verifier;',
  },
  ...[1, 2, 3].map((place) => ({
    name: `the batch size at place ${place} checks with the verifier before it`,
    file: pool,
    find: `return _fundVerifier${place}`,
    replace: `return _fundVerifier${place - 1}`,
  })),
  {
    name: 'no batch of the third size',
    file: pool,
    find: 'if (size == _fundKey2) return _fundVerifier2;',
    replace: '',
  },
  {
    name: 'a batch of any size',
    file: pool,
    find: 'revert UnsupportedBatchSize(size)',
    replace: 'return _fundVerifier0',
  },
  {
    name: 'the asset id is left out',
    file: fundStatement,
    find: 'words[1] = assetId;',
    replace: '',
  },
  {
    name: 'the last commitment is left out',
    file: fundStatement,
    find: 'mul(commitments.length, 0x20))',
    replace: 'mul(sub(commitments.length, 1), 0x20))',
  },
  ...constructionMutants,
  {
    name: 'fee-taking tokens',
    file: pool,
    find: 'if (received != total)',
    replace: 'if (received > total)',
  },
  {
    name: 'a failed permit stops the batch',
    file: pool,
    find: '// The transfer decides.',
    replace: 'revert ZeroAddress();',
  },
  {
    name: 'a permit of zero is submitted',
    file: pool,
    find: 'if (permit.value == 0) return;',
    replace: '',
  },
  {
    name: 'batchId: a used nonce is voided',
    file: pool,
    find: 'if (state != 0 && state != VOIDED) revert BatchNonceUsed(funder, batchNonce);',
    replace: '',
  },
  {
    name: 'anyone voids',
    file: pool,
    find: 'if (!FunderSignature.isValid(funder, digest, signature)) revert',
    replace: 'if (false) revert',
  },
  {
    name: 'batchId: an alias is another nonce',
    file: pool,
    find: 'if (uint256(batchNonce) >= PublicInputs.R) revert PublicInputs.FieldElementOutOfRange();',
    replace: '',
  },
  {
    name: 'enabling again makes a new asset id',
    file: pool,
    find: 'if (assetId == 0) {',
    replace: 'if (true) {',
  },
  {
    name: 'anyone enables tokens',
    file: pool,
    find: 'function enableToken(address token) external onlyRole(DEFAULT_ADMIN_ROLE)',
    replace: 'function enableToken(address token) external',
  },
  {
    name: 'the guardian resumes',
    file: pool,
    find: 'function resumeFunding() external onlyRole(DEFAULT_ADMIN_ROLE)',
    replace: 'function resumeFunding() external onlyRole(GUARDIAN_ROLE)',
  },
  {
    name: 'aliases of field elements',
    file: inputs,
    find: 'if (!inRange) revert',
    replace: 'if (false) revert',
  },
  {
    name: 'the digest may be an alias',
    file: inputs,
    find: 'inRange := lt(mload(first), r)',
    replace: 'inRange := 1',
  },
  {
    name: 'z without the digest',
    file: inputs,
    find: 'keccak256(first, length)',
    replace: 'keccak256(add(first, 0x20), sub(length, 0x20))',
  },
  {
    name: 'y stops before x_0',
    file: inputs,
    find: 'gt(position, first)',
    replace: 'gt(position, add(first, 0x20))',
  },
  {
    name: 'y stops before x_1',
    file: inputs,
    find: 'gt(position, end)',
    replace: 'gt(position, add(end, 0x20))',
  },
  {
    name: 'aliases in every second place',
    file: inputs,
    find: 'and(and(lt(w, r), lt(x, r)), inRange)',
    replace: 'and(lt(w, r), inRange)',
  },
  {
    name: 'aliases in the other places',
    file: inputs,
    find: 'and(and(lt(w, r), lt(x, r)), inRange)',
    replace: 'and(lt(x, r), inRange)',
  },
  {
    name: 'x_0 may be an alias',
    file: inputs,
    find: 'inRange := and(lt(x, r), inRange)',
    replace: '',
  },
  {
    name: 'ERC-1271 before ECDSA',
    file: signature,
    find: 'if (failure == ECDSA.RecoverError.NoError && recovered == funder) return true;',
    replace:
      'if (funder.code.length == 0) return failure == ECDSA.RecoverError.NoError && recovered == funder;',
  },
  { name: 'any ECDSA signer', file: signature, find: ' && recovered == funder', replace: '' },
  {
    name: 'no ERC-1271',
    file: signature,
    find: 'return funder.code.length != 0 && ',
    replace: 'return false && ',
  },
  {
    name: 'a wallet may burn all the gas',
    file: signature,
    find: 'staticcall(ERC1271_GAS, wallet',
    replace: 'staticcall(gas(), wallet',
  },
  {
    name: 'a wallet is asked with less gas than it may use',
    file: signature,
    find: 'if (gasleft() < (ERC1271_GAS * 64) / 63 + CALL_GAS) revert SignatureGasMissing();',
    replace: '',
  },
  {
    name: 'a wallet that answers nothing consents',
    file: signature,
    find: 'and(answered, and(gt(returndatasize(), 0x1f), eq(mload(0), ERC1271_SELECTOR)))',
    replace: 'answered',
  },
  {
    name: 'past roots are forgotten',
    file: tree,
    find: 'self.madeBy[root] = index + 1;',
    replace: '',
  },
  { name: 'a zero root', file: tree, find: 'if (root == 0) revert ZeroRoot();', replace: '' },
  { name: 'a full tree continues', file: tree, find: 'index % TREE_CAPACITY', replace: 'index' },
  {
    name: 'zero eligibility root',
    file: registry,
    find: 'if (root == 0) revert ZeroEligibilityRoot();',
    replace: '',
  },
  {
    name: 'a revocation does nothing',
    file: registry,
    find: 'record.epoch == epoch && ',
    replace: 'record.epoch != 0 && ',
  },
  {
    name: 'no grace',
    file: registry,
    find: 'block.timestamp < record.expiresAt',
    replace: 'false',
  },
  {
    name: 'a revocation leaves the current root',
    file: registry,
    find: '_current |= REVOKED;',
    replace: '',
  },
  {
    name: 'zero is the current root before the first',
    file: registry,
    find: 'return root != 0 && uint256(root)',
    replace: 'return uint256(root)',
  },
  {
    name: 'the mark of a revocation is part of a root',
    file: registry,
    find: 'return root != 0 && uint256(root) & REVOKED == 0;',
    replace: 'return root != 0;',
  },
  // There is no mutant for clearing a republished root's expiry: the root is current, and its replacement sets the expiry again.
  {
    name: 'a verifier that answers no',
    file: check,
    find: ', eq(mload(0), 1)))',
    replace: ', 1))',
  },
  {
    name: 'a verifier that does not answer',
    file: check,
    find: 'and(answered, and(gt(returndatasize(), 0x1f), eq(mload(0), 1)))',
    replace: 'or(iszero(answered), eq(mload(0), 1))',
  },
  {
    name: 'a verifier that reverts with yes',
    file: check,
    find: 'and(answered, and(gt',
    replace: 'and(1, and(gt',
  },
  {
    name: 'a verifier whose answer is too short',
    file: check,
    find: 'and(gt(returndatasize(), 0x1f), eq(mload(0), 1))',
    replace: 'eq(mload(0), 1)',
  },
  {
    name: 'D is not asked about',
    file: check,
    find: 'mstore(add(question, 0x104), mload(add(words, 0x20)))',
    replace: '',
  },
  {
    name: 'inputs may be aliases',
    file: verifier,
    find: 'if (digest >= R || z >= R || y >= R) return false;',
    replace: '',
  },
  {
    name: 'the pairing result is ignored',
    file: verifier,
    find: 'valid := and(valid, eq(mload(0), 1))',
    replace: '',
  },
  {
    name: 'y is not bound',
    file: verifier,
    find: 'valid := and(valid, accumulate(inputs, add(points, 0xc0), y))',
    replace: '',
  },
  ...spendMutants,
];
