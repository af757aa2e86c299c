// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @dev Takes one unit of every transfer.
contract FeeToken is ERC20("Fee", "FEE") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0)) return super._update(from, to, value);
        super._update(from, to, value - 1);
        super._update(from, address(0xfee), 1);
    }
}

/// @dev Gives the receiver more than was sent.
contract BonusToken is ERC20("Bonus", "BON") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        _mint(to, 1);
        return super.transferFrom(from, to, value);
    }
}

/// @dev Takes one unit more from the sender than was sent.
contract GreedyToken is ERC20("Greedy", "GRD") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        _burn(msg.sender, 1);
        return super.transfer(to, value);
    }
}

/// @dev Gives the sender more than it takes.
contract RefundingToken is ERC20("Refund", "REF") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        _mint(msg.sender, 2 * value);
        return super.transfer(to, value);
    }
}

/// @dev Says yes and does nothing.
contract LyingToken is ERC20("Lie", "LIE") {
    function transfer(address, uint256) public pure override returns (bool) {
        return true;
    }

    function transferFrom(address, address, uint256) public pure override returns (bool) {
        return true;
    }
}

/// @dev Says no without reverting.
contract RefusingToken is ERC20("No", "NO") {
    function transfer(address, uint256) public pure override returns (bool) {
        return false;
    }

    function transferFrom(address, address, uint256) public pure override returns (bool) {
        return false;
    }
}

/// @dev Calls back into whatever it was told to, during the transfer or during the permit.
contract ReenteringToken is ERC20("Reenter", "REE") {
    address public target;
    bytes public call;
    bool public succeeded;
    bytes public answer;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function arm(address target_, bytes calldata call_) external {
        target = target_;
        call = call_;
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        (succeeded, answer) = target.call(call);
        return super.transferFrom(from, to, value);
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        (succeeded, answer) = target.call(call);
        return super.transfer(to, value);
    }
}
