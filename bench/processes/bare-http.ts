import { createServer } from 'node:http';

/**
 * What is left of a request without Express, key, limiter and checks: `node:http` reads the body, parses it and answers
 * the event that it got, with an id. It bounds what any door on Node can reach (G1).
 */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { event } = JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify({ event: { svc_id: '0197a6f0-0000-7000-8000-000000000000', ...event } });
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => process.send?.('ready'));
process.once('SIGTERM', () => process.exit(0));
