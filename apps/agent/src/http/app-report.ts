/**
 * A validation report as a response. A roster far above every ceiling has 100,000 issues. Their text is written piece by
 * piece, so that other requests get a turn.
 *
 * @module
 */

import type { ValidationReport } from '@pool/operations';
import { createPace } from '@pool/wallet';
import type { Context } from 'hono';

/** Issues in one piece of the text. */
const pieceSize = 512;

export function answerReport(context: Context, report: ValidationReport): Response {
  if (report.issues.length <= pieceSize) {
    return context.json(report);
  }
  const pieces = writePieces(report);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await pieces.next();
      if (piece.done === true) {
        controller.close();
      } else {
        controller.enqueue(encoder.encode(piece.value));
      }
    },
  });
  return context.body(body, 200, { 'content-type': 'application/json' });
}

async function* writePieces({ issues, ...rest }: ValidationReport): AsyncGenerator<string> {
  const pace = createPace();
  yield `${JSON.stringify(rest).slice(0, -1)},"issues":[`;
  for (let start = 0; start < issues.length; start += pieceSize) {
    const piece = JSON.stringify(issues.slice(start, start + pieceSize)).slice(1, -1);
    yield start === 0 ? piece : `,${piece}`;
    await pace();
  }
  yield ']}';
}
