const WIDTH = 30;
const REDRAW_MS = 100;

/** Progress of a long piece of work: one line on stderr with rate and remaining time; silent when it is no terminal. */
export function createMeter(label: string, total: number): { add(count: number): void; end(): void } {
  const started = performance.now();
  let done = 0;
  let drawn = 0;
  const draw = () => {
    const seconds = (performance.now() - started) / 1000;
    const rate = done / Math.max(seconds, 0.001);
    const filled = Math.floor((WIDTH * done) / total);
    const left = rate > 0 ? Math.ceil((total - done) / rate) : 0;
    process.stderr.write(
      `\r${label} [${'='.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${done}/${total}  ${Math.floor(rate)}/s  ${left} s left   `,
    );
  };
  return {
    add(count) {
      done += count;
      if (!process.stderr.isTTY || performance.now() - drawn < REDRAW_MS) return;
      drawn = performance.now();
      draw();
    },
    end() {
      if (process.stderr.isTTY) {
        draw();
        process.stderr.write('\n');
      }
      const seconds = (performance.now() - started) / 1000;
      console.log(`${label}: ${done} in ${seconds.toFixed(1)} s, ${Math.floor(done / seconds)} a second`);
    },
  };
}
