// Serves one client metadata document over HTTPS. Settings: PORT, KEY, CERT, URL, REDIRECT_URI.
import https from 'node:https';
import { readFileSync } from 'node:fs';

const { PORT, KEY, CERT, URL: address, REDIRECT_URI } = process.env;
const document = JSON.stringify({ client_id: address, client_name: 'MCP host', redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'],
                                  response_types: ['code'], token_endpoint_auth_method: 'none' });
https.createServer({ key: readFileSync(KEY), cert: readFileSync(CERT) }, (req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=600' }).end(document);
}).listen(Number(PORT), 'localhost');
