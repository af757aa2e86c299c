// Proves in the page. The files stay on this machine.
import { createProver } from '@pool/prover';

const form = document.querySelector('form');
const bar = document.querySelector('progress');
const output = document.querySelector('pre');

const prover = createProver(); // the next proof with the same file does not read it again

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { wasm, zkey, input } = Object.fromEntries(new FormData(form));
  try {
    const { proof, publicSignals } = await prover.prove({
      circuit: { wasm, zkey },
      input: JSON.parse(await input.text()),
      onProgress: (stage, fraction) => {
        bar.value = stage === 'proof' ? fraction : bar.value;
      },
    });
    const { detail } = prover.accelerator;
    output.textContent = JSON.stringify({ detail, publicSignals, proof }, null, 2);
  } catch (error) {
    output.textContent = `${error.code}: ${error.message}`;
  }
});
