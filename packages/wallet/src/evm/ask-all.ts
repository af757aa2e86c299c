import { PoolError } from '@pool/core';
import { stringifyHex } from '../note-files/note-json.ts';

/**
 * What every node answers.
 * @param nodes - one or more
 * @throws PoolError `nodes_disagree`
 */
export async function askAll<TNode, TAnswer>(
  nodes: readonly TNode[],
  ask: (node: TNode) => Promise<TAnswer>,
): Promise<TAnswer> {
  const answers = await Promise.all(nodes.map(ask));
  const texts = new Set(answers.map((answer) => stringifyHex(answer)));
  if (texts.size !== 1) {
    throw new PoolError(
      'nodes_disagree',
      'the RPCs answer different things about a final block; ask another node which one is right',
    );
  }
  return answers[0] as TAnswer;
}
