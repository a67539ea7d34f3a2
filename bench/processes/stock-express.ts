import express, { type Request, type Response } from 'express';

/**
 * The baseline of HTTP: an Express app as one writes it first, with its JSON body reader and `app.listen`. It answers
 * the event that it got, with an id, as the service does, and stores nothing.
 */
const app = express();
app.use(express.json());
const answer = (request: Request, response: Response) => {
  response.json({ event: { svc_id: '0197a6f0-0000-7000-8000-000000000000', ...request.body.event } });
};
app.post('/api/v1/events', answer);
app.listen(Number(process.env.PORT), '127.0.0.1', () => process.send?.('ready'));
process.once('SIGTERM', () => process.exit(0));
