// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof, IGroth16Verifier} from "../solidity/interfaces/IGroth16Verifier.sol";
import {IShieldedPool} from "../solidity/interfaces/IShieldedPool.sol";
import {ProofCheck} from "../solidity/lib/ProofCheck.sol";
import {TestBase} from "./support/TestBase.sol";

contract ProofCheckHarness {
    function requireValid(IGroth16Verifier verifier, Groth16Proof calldata proof, uint256[] memory words)
        external
        view
    {
        // What an earlier call may have left in the scratch memory that the answer is read from.
        assembly ("memory-safe") {
            mstore(0, 1)
        }
        ProofCheck.requireValid(verifier, proof, words);
    }
}

/// @dev Answers every call with the given bytes, as a return or as a revert.
contract FixedAnswer {
    bytes private _answer;
    bool private _reverts;

    constructor(bytes memory answer, bool reverts) {
        _answer = answer;
        _reverts = reverts;
    }

    fallback() external {
        bytes memory answer = _answer;
        bool reverts = _reverts;
        assembly ("memory-safe") {
            if reverts { revert(add(answer, 0x20), mload(answer)) }
            return(add(answer, 0x20), mload(answer))
        }
    }
}

/// @dev Uses all the gas that it was given.
contract NoAnswer {
    fallback() external {
        assembly ("memory-safe") {
            invalid()
        }
    }
}

/// @dev Only the word 1, returned, says that a proof holds. A verifier with a development key reverts on every public chain, and a
/// caller may leave it too little gas.
contract ProofCheckTest is TestBase {
    ProofCheckHarness internal harness = new ProofCheckHarness();

    function _check(address verifier) private view {
        Groth16Proof memory proof;
        uint256[] memory words = new uint256[](3);
        harness.requireValid(IGroth16Verifier(verifier), proof, words);
    }

    function _refuses(address verifier) private {
        vm.expectRevert(IShieldedPool.InvalidProof.selector);
        _check(verifier);
    }

    function test_acceptsTheWordOne() public {
        _check(address(new FixedAnswer(abi.encode(1), false)));
    }

    function test_refusesEveryOtherAnswer() public {
        _refuses(address(new FixedAnswer(abi.encode(0), false)));
        _refuses(address(new FixedAnswer(abi.encode(2), false)));
        _refuses(address(new FixedAnswer(abi.encode(type(uint256).max), false)));
    }

    function test_refusesAVerifierThatReverts() public {
        _refuses(address(new FixedAnswer("", true)));
        _refuses(address(new FixedAnswer(abi.encode(1), true)));
        _refuses(address(new FixedAnswer(abi.encode(2), true)));
        bytes memory development = abi.encodeWithSelector(IGroth16Verifier.DevelopmentKeyOnPublicChain.selector, 8453);
        _refuses(address(new FixedAnswer(development, true)));
    }

    function test_refusesAVerifierThatRunsOutOfGas() public {
        _refuses(address(new NoAnswer()));
    }

    /// @dev An answer that is too short leaves in the scratch memory what was there.
    function test_refusesAnAnswerThatIsNotAWord() public {
        _refuses(address(new FixedAnswer("", false)));
        _refuses(address(new FixedAnswer(new bytes(31), false)));
        _refuses(address(0xbeef));
    }
}
