/**
 * A contract that makes a call which its own calldata does not show: it calls the address in the first word with the inverted bytes of the
 * rest, and reverts if the call does. Tests only.
 *
 * @module
 */
import { concat, getBytes, type Signer, type TransactionReceipt, zeroPadValue } from 'ethers';

/** Copies the rest to memory, inverts it word by word, calls. */
const creationCode = concat([
  // Returns the 62 bytes that follow.
  '0x603e80600b6000396000f3',
  '0x6020360380602060003760005b81811015601f578051198152602001600c565b50',
  '0x6000600082600060006000355af1603c573d600060003e3d6000fd5b00',
]);

/** @returns the receipt of the call, and the calldata that the chain shows */
export async function callWrapped(
  sender: Signer,
  to: string,
  call: string,
): Promise<{ readonly receipt: TransactionReceipt | null; readonly data: string }> {
  const deployed = await (await sender.sendTransaction({ data: creationCode })).wait();
  const data = concat([zeroPadValue(to, 32), getBytes(call).map((byte) => 255 - byte)]);
  const sent = await sender.sendTransaction({ to: deployed?.contractAddress ?? null, data });
  return { receipt: await sent.wait(), data };
}
