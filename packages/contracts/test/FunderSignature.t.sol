// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FunderSignature} from "../solidity/lib/FunderSignature.sol";
import {PoolFixture} from "./support/PoolFixture.sol";

contract FunderSignatureHarness {
    function isValid(address funder, bytes32 digest, bytes calldata signature) external view returns (bool) {
        return FunderSignature.isValid(funder, digest, signature);
    }
}

/// @dev vectors/eip712.json: what signers outside this package sign is what the contract checks.
contract FunderSignatureTest is PoolFixture {
    FunderSignatureHarness internal harness = new FunderSignatureHarness();
    string internal json = vm.readFile("../../vectors/eip712.json");

    function test_theTypeHashesAreTheVectors() public view {
        bytes32 fundType = vm.parseJsonBytes32(json, ".fundAuthorizations[0].typeHash");
        bytes32 voidType = vm.parseJsonBytes32(json, ".voidBatches[0].typeHash");
        assertEq(FunderSignature.FUND_AUTHORIZATION_TYPEHASH, fundType, "FundAuthorization");
        assertEq(FunderSignature.VOID_BATCH_TYPEHASH, voidType, "VoidBatch");
    }

    function test_theVectorsSignaturesAreTheFunders() public view {
        address account = vm.parseJsonAddress(json, ".fundAuthorizations[0].message.funder");
        bytes32 digest = vm.parseJsonBytes32(json, ".fundAuthorizations[0].digest");
        bytes memory signature = vm.parseJsonBytes(json, ".fundAuthorizations[0].signature");
        assertTrue(harness.isValid(account, digest, signature), "a vector's signature is refused");
        assertTrue(!harness.isValid(stranger, digest, signature), "it is taken for somebody else's");
        assertTrue(!harness.isValid(account, keccak256("other"), signature), "it is taken for another digest");
    }

    /// @dev The pool's own domain: name and version of protocol §8, this chain, this address (EIP-5267).
    function test_theDomainIsThePools() public view {
        (, string memory name, string memory version, uint256 chainId, address verifyingContract,,) =
            pool.eip712Domain();
        assertEq(keccak256(bytes(name)), keccak256("ShieldedPool"), "name");
        assertEq(keccak256(bytes(version)), keccak256("1"), "version");
        assertEq(chainId, block.chainid, "chain");
        assertEq(verifyingContract, address(pool), "contract");
    }
}
