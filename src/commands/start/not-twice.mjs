// Before `npm start` compiles: the files of a service that runs on the same data must not change under it. Plain
// JavaScript, since nothing may be compiled yet; then nothing of this project runs from dist/ either.
import { existsSync } from 'node:fs';

const services = new URL('../../../dist/src/platform/services/', import.meta.url);
if (existsSync(new URL('run-file.js', services))) {
  const [{ whyNotTwice }, { defaultDataDir }] = await Promise.all(
    ['run-file.js', 'discover.js'].map((file) => import(new URL(file, services).href)),
  );
  const why = await whyNotTwice?.(defaultDataDir()); // absent in a build of an earlier version
  if (why !== undefined) {
    console.error(why);
    process.exit(1);
  }
}
