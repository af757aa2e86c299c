/**
 * Files as one ZIP, made while it is downloaded.
 *
 * @module
 */
import { strToU8, Zip, ZipPassThrough } from 'fflate';

/** @param files - one after the other. An error ends the download. @param onEnd - also when the reader leaves */
export function streamZip(
  files: AsyncGenerator<{ readonly name: string; readonly content: string | Uint8Array }>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  let zip: Zip;
  return new ReadableStream({
    start(controller) {
      zip = new Zip((error, chunk, isLast) => {
        if (error !== null) {
          controller.error(error);
        } else {
          controller.enqueue(chunk);
          if (isLast) {
            controller.close();
          }
        }
      });
    },
    async pull() {
      try {
        const next = await files.next();
        if (next.done === true) {
          zip.end();
          onEnd();
          return;
        }
        // Documents are compressed in themselves.
        const entry = new ZipPassThrough(next.value.name);
        zip.add(entry);
        const { content } = next.value;
        entry.push(typeof content === 'string' ? strToU8(content) : content, true);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    async cancel() {
      await files.return(undefined);
      onEnd();
    },
  });
}
