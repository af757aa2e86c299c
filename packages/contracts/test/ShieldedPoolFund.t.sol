// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit} from "../solidity/interfaces/IShieldedPool.sol";
import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {PoolFixture} from "./support/PoolFixture.sol";
import {IndifferentCode, OwnedWallet} from "./support/Wallets.sol";

/// @dev `fund`: what it does when everything fits, and one test per check.
contract ShieldedPoolFundTest is PoolFixture {
    // What it does ------------------------------------------------------------------------------------

    function test_settlesABatchOfSixteen() public {
        _settles(makeBatch(16, "a"));
    }

    function test_settlesABatchOfSixtyFour() public {
        _settles(makeBatch(64, "a"));
    }

    function test_settlesABatchOfTwoHundredFiftySix() public {
        _settles(makeBatch(256, "a"));
    }

    function _settles(FundBatch memory batch) private {
        Groth16Proof memory proof = prove(batch);
        bytes memory signature = sign(batch);
        // The only leaf of a tree is its root.
        vm.expectEmit(address(pool));
        emit IShieldedPool.BatchFunded(
            0, batch.batchRoot, batch.batchRoot, batchIdOf(batch), batch.sealedNotesHash, batch.commitments
        );
        fundWith(batch, proof, signature, noPermit());

        assertEq(pool.batchNonceUsed(batch.funder, batch.batchNonce), batch.batchRoot, "root under the nonce");
        assertEq(pool.batchCount(), 1, "count");
        assertEq(pool.currentRoot(), batch.batchRoot, "current root");
        assertTrue(pool.isKnownRoot(batch.batchRoot), "the root is known");
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
        assertEq(token.balanceOf(funder), FUNDS - batch.total, "the funder's balance");
    }

    function test_numbersBatchesAndKeepsEveryRoot() public {
        bytes32[] memory roots = new bytes32[](5);
        for (uint256 i = 0; i < 5; i++) {
            fund(makeBatch(16, vm.toString(i)));
            roots[i] = pool.currentRoot();
            assertEq(pool.batchCount(), i + 1, "count");
            for (uint256 j = 0; j <= i; j++) {
                assertTrue(pool.isKnownRoot(roots[j]), "a past root is forgotten");
            }
        }
    }

    function test_acceptsTheLargestTotal() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.total = type(uint128).max;
        token.mint(funder, batch.total);
        fund(batch);
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
    }

    function test_landsInTheLastSecond() public {
        FundBatch memory batch = makeBatch(16, "a");
        vm.warp(batch.deadline);
        fund(batch);
    }

    function test_landsAgainstAReplacedEligibilityRootDuringItsGrace() public {
        FundBatch memory batch = makeBatch(16, "a");
        vm.prank(gate);
        registry.publish(fieldElement("newer root"));
        fund(batch);
    }

    // Who and when ------------------------------------------------------------------------------------

    function test_refusesAnybodyButTheRelayer() public {
        FundBatch memory batch = makeBatch(16, "a");
        (Groth16Proof memory proof, bytes memory signature) = (prove(batch), sign(batch));
        address[4] memory others = [funder, admin, guardian, stranger];
        for (uint256 i = 0; i < others.length; i++) {
            bytes memory refusal = abi.encodeWithSelector(
                IAccessControl.AccessControlUnauthorizedAccount.selector, others[i], keccak256("RELAYER_ROLE")
            );
            vm.prank(others[i]);
            vm.expectRevert(refusal);
            pool.fund(batch, proof, signature, noPermit());
        }
    }

    function test_refusesWhilePausedAndGoesOnAfterwards() public {
        FundBatch memory batch = makeBatch(16, "a");
        vm.prank(guardian);
        pool.pauseFunding();
        expectRefusal(batch, encode(Pausable.EnforcedPause.selector));
        vm.prank(admin);
        pool.resumeFunding();
        fund(batch);
    }

    function test_refusesOneSecondAfterTheDeadline() public {
        FundBatch memory batch = makeBatch(16, "a");
        vm.warp(batch.deadline + 1);
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.AuthorizationExpired.selector, batch.deadline));
    }

    // What --------------------------------------------------------------------------------------------

    function test_refusesATokenThatWasNeverEnabled() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.token = address(registry);
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.TokenNotEnabled.selector, batch.token));
    }

    function test_refusesADisabledToken() public {
        FundBatch memory batch = makeBatch(16, "a");
        vm.prank(admin);
        pool.disableToken(address(token));
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.TokenNotEnabled.selector, batch.token));
        vm.prank(admin);
        pool.enableToken(address(token));
        fund(batch);
    }

    function test_refusesATotalOfZero() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.total = 0;
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.TotalOutOfRange.selector, 0));
    }

    function test_refusesATotalAbove128Bits() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.total = 1 << 128;
        token.mint(funder, batch.total);
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.TotalOutOfRange.selector, 1 << 128));
    }

    function test_refusesEveryOtherArrayLength() public {
        uint256[9] memory sizes = [uint256(0), 1, 15, 17, 63, 65, 255, 257, 1024];
        for (uint256 i = 0; i < sizes.length; i++) {
            FundBatch memory batch = makeBatch(sizes[i], "a");
            batch.total = 1;
            expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.UnsupportedBatchSize.selector, sizes[i]));
        }
    }

    function test_refusesAZeroBatchRoot() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.batchRoot = 0;
        expectRefusal(batch, encode(IShieldedPool.ZeroBatchRoot.selector));
    }

    // Once --------------------------------------------------------------------------------------------

    function test_refusesTheSameBatchTwice() public {
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        expectRefusal(
            batch, abi.encodeWithSelector(IShieldedPool.BatchNonceUsed.selector, batch.funder, batch.batchNonce)
        );
    }

    function test_refusesAUsedNonceForAnotherBatchInAnotherToken() public {
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        FundBatch memory other = makeBatch(64, "b");
        other.token = address(registry);
        vm.prank(admin);
        pool.enableToken(other.token);
        other.batchNonce = batch.batchNonce;
        expectRefusal(
            other, abi.encodeWithSelector(IShieldedPool.BatchNonceUsed.selector, batch.funder, batch.batchNonce)
        );
    }

    function test_refusesANonceThatTheFunderVoided() public {
        FundBatch memory batch = makeBatch(16, "a");
        pool.voidBatch(funder, batch.batchNonce, signWith(FUNDER_KEY, voidDigest(funder, batch.batchNonce)));
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.BatchIsVoided.selector, funder, batch.batchNonce));
    }

    function test_landsAlthoughAnotherFunderVoidedTheSameNonce() public {
        FundBatch memory batch = makeBatch(16, "a");
        uint256 otherKey = uint256(keccak256("another funder"));
        address other = vm.addr(otherKey);
        pool.voidBatch(other, batch.batchNonce, signWith(otherKey, voidDigest(other, batch.batchNonce)));
        fund(batch);
    }

    // Field elements ----------------------------------------------------------------------------------

    function test_refusesEveryAliasOfAFieldElement() public {
        bytes memory refusal = encode(PublicInputs.FieldElementOutOfRange.selector);
        for (uint256 position = 0; position < 3 + 16; position++) {
            FundBatch memory batch = makeBatch(16, "a");
            Groth16Proof memory proof = prove(batch);
            if (position == 0) batch.digest = _alias(batch.digest);
            else if (position == 1) batch.batchNonce = _alias(batch.batchNonce);
            else if (position == 2) batch.batchRoot = _alias(batch.batchRoot);
            else batch.commitments[position - 3] = _alias(batch.commitments[position - 3]);
            expectRefusalWith(batch, proof, sign(batch), refusal);
        }
    }

    function test_refusesAnAliasOfAUsedNonce() public {
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        batch.batchNonce = _alias(batch.batchNonce);
        expectRefusal(batch, encode(PublicInputs.FieldElementOutOfRange.selector));
    }

    function _alias(bytes32 element) private pure returns (bytes32) {
        return bytes32(uint256(element) + R);
    }

    // Eligibility -------------------------------------------------------------------------------------

    function test_refusesTheZeroEligibilityRoot() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.eligibilityRoot = 0;
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.EligibilityRootNotAccepted.selector, bytes32(0)));
    }

    function test_refusesAnUnknownExpiredOrRevokedEligibilityRoot() public {
        FundBatch memory batch = makeBatch(16, "a");
        bytes memory refusal =
            abi.encodeWithSelector(IShieldedPool.EligibilityRootNotAccepted.selector, batch.eligibilityRoot);

        vm.prank(gate);
        registry.publish(fieldElement("newer root"));
        vm.warp(START + GRACE);
        expectRefusal(batch, refusal);

        vm.prank(gate);
        registry.publish(eligibilityRoot);
        vm.prank(gate);
        registry.revoke();
        expectRefusal(batch, refusal);

        batch.eligibilityRoot = fieldElement("unknown root");
        refusal = abi.encodeWithSelector(IShieldedPool.EligibilityRootNotAccepted.selector, batch.eligibilityRoot);
        expectRefusal(batch, refusal);
    }

    // The funder's authorisation ----------------------------------------------------------------------

    function test_refusesAnotherSignerAndMalformedSignatures() public {
        FundBatch memory batch = makeBatch(16, "a");
        Groth16Proof memory proof = prove(batch);
        bytes memory refusal = encode(IShieldedPool.InvalidFunderSignature.selector);
        expectRefusalWith(batch, proof, signWith(1, authorizationDigest(batch)), refusal);
        expectRefusalWith(batch, proof, "", refusal);
        expectRefusalWith(batch, proof, new bytes(65), refusal);
        expectRefusalWith(batch, proof, abi.encodePacked(sign(batch), uint8(0)), refusal);
    }

    function test_refusesTheHighSTwinOfASignature() public {
        FundBatch memory batch = makeBatch(16, "a");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(FUNDER_KEY, authorizationDigest(batch));
        uint256 order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
        bytes memory twin = abi.encodePacked(r, bytes32(order - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        expectRefusalWith(batch, prove(batch), twin, encode(IShieldedPool.InvalidFunderSignature.selector));
    }

    function test_theSignatureCoversEveryFieldOfTheAuthorisation() public {
        FundBatch memory signed = makeBatch(16, "a");
        bytes memory signature = sign(signed);
        vm.startPrank(admin);
        pool.enableToken(address(registry));
        vm.stopPrank();
        for (uint256 field = 0; field < 7; field++) {
            FundBatch memory batch = makeBatch(16, "a");
            if (field == 0) batch.funder = stranger;
            if (field == 1) batch.token = address(registry);
            if (field == 2) batch.total += 1;
            if (field == 3) batch.batchRoot = fieldElement("another batch root");
            if (field == 4) batch.batchNonce = fieldElement("another nonce");
            if (field == 5) batch.sealedNotesHash = keccak256("other sealed notes");
            if (field == 6) batch.deadline += 1;
            expectRefusalWith(batch, prove(batch), signature, encode(IShieldedPool.InvalidFunderSignature.selector));
        }
    }

    function test_aSignatureForAnotherPoolOrChainIsRefused() public {
        FundBatch memory batch = makeBatch(16, "a");
        bytes memory signature = sign(batch);
        vm.chainId(1);
        // The asset id was cached on the first chain, so the proof is for that one; the signature fails first.
        expectRefusalWith(batch, prove(batch), signature, encode(IShieldedPool.InvalidFunderSignature.selector));
    }

    function test_acceptsTheSignatureOfAContractWallet() public {
        OwnedWallet wallet = new OwnedWallet(funder);
        token.mint(address(wallet), 1e12);
        vm.prank(funder);
        wallet.execute(address(token), abi.encodeCall(token.approve, (address(pool), 1e12)));
        FundBatch memory batch = makeBatch(16, "a");
        batch.funder = address(wallet);
        bytes memory refusal = encode(IShieldedPool.InvalidFunderSignature.selector);
        expectRefusalWith(batch, prove(batch), signWith(1, authorizationDigest(batch)), refusal);
        fund(batch);
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
    }

    function test_acceptsTheKeyOfAnAccountWithDelegatedCode() public {
        IndifferentCode code = new IndifferentCode();
        vm.etch(funder, abi.encodePacked(hex"ef0100", address(code)));
        FundBatch memory batch = makeBatch(16, "a");
        expectRefusalWith(
            batch,
            prove(batch),
            signWith(1, authorizationDigest(batch)),
            encode(IShieldedPool.InvalidFunderSignature.selector)
        );
        fund(batch);
    }

    // The proof ---------------------------------------------------------------------------------------

    function test_refusesAProofOfAnotherCircuit() public {
        FundBatch memory batch = makeBatch(16, "a");
        uint256[2] memory others = [uint256(64), 256];
        for (uint256 i = 0; i < others.length; i++) {
            FundBatch memory other = makeBatch(others[i], "a");
            expectRefusalWith(batch, prove(other), sign(batch), encode(IShieldedPool.InvalidProof.selector));
        }
    }

    /// @dev Protocol §5: D binds every element. The relayer changes one, keeps D and proof, and must fail.
    function test_refusesEveryElementFlippedAgainstAFixedDigest() public {
        _refusesFlips(makeBatch(16, "a"));
        _refusesFlips(makeBatch(64, "b"));
        _refusesFlips(makeBatch(256, "c"));
    }

    function _refusesFlips(FundBatch memory batch) private {
        Groth16Proof memory proof = prove(batch);
        bytes memory refusal = encode(IShieldedPool.InvalidProof.selector);
        // assetId: the same batch in another enabled token.
        address first = batch.token;
        batch.token = address(registry);
        vm.prank(admin);
        pool.enableToken(batch.token);
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.token = first;

        batch.total += 1;
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.total -= 1;

        batch.batchNonce = _flip(batch.batchNonce);
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.batchNonce = _flip(batch.batchNonce);

        bytes32 otherRoot = _flip(batch.eligibilityRoot);
        vm.prank(gate);
        registry.publish(otherRoot);
        batch.eligibilityRoot = otherRoot;
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.eligibilityRoot = _flip(otherRoot);

        batch.batchRoot = _flip(batch.batchRoot);
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.batchRoot = _flip(batch.batchRoot);

        for (uint256 i = 0; i < batch.commitments.length; i++) {
            batch.commitments[i] = _flip(batch.commitments[i]);
            expectRefusalWith(batch, proof, sign(batch), refusal);
            batch.commitments[i] = _flip(batch.commitments[i]);
        }

        batch.digest = _flip(batch.digest);
        expectRefusalWith(batch, proof, sign(batch), refusal);
        batch.digest = _flip(batch.digest);

        // Put back, the very same batch settles: the refusals above had no other reason.
        fundWith(batch, proof, sign(batch), noPermit());
    }

    function _flip(bytes32 element) private pure returns (bytes32) {
        return element ^ bytes32(uint256(1));
    }

    function test_refusesSwappedCommitments() public {
        FundBatch memory batch = makeBatch(16, "a");
        Groth16Proof memory proof = prove(batch);
        (batch.commitments[0], batch.commitments[1]) = (batch.commitments[1], batch.commitments[0]);
        expectRefusalWith(batch, proof, sign(batch), encode(IShieldedPool.InvalidProof.selector));
    }
}
