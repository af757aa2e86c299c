// The ways to allow the pool to take the money that crash.test.ts leaves out.
import { describeCrashes } from '../fixtures/crash-table.ts';

describeCrashes('with an approval', { finalityBlocks: 5 });
describeCrashes('with a permit, and votes', { permit: true, finalityBlocks: 5, isVoting: true });
