// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @dev A contract wallet with one owner (ERC-1271).
contract OwnedWallet {
    address private immutable _owner;

    constructor(address owner) {
        _owner = owner;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        return recovered == _owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function execute(address target, bytes calldata data) external {
        require(msg.sender == _owner, "not the owner");
        (bool done,) = target.call(data);
        require(done, "call failed");
    }
}

/// @dev Code that knows nothing of ERC-1271, as a delegated account may carry (EIP-7702).
contract IndifferentCode {
    receive() external payable {}
}
