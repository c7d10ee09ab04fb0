// Hands requests on with the token of TIRO_MCP_TOKEN: the conformance suite has no way to send one. Host and Origin stay as they came.
// usage: node with_token.mjs URL; prints the port it listens on
import http from "node:http";

const target = new URL(process.argv[2]);
const authorization = `Bearer ${process.env.TIRO_MCP_TOKEN}`;
const server = http.createServer((request, answer) => {
  const options = { host: target.hostname, port: target.port, path: request.url, method: request.method };
  const onward = http.request({ ...options, headers: { ...request.headers, authorization } }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  request.pipe(onward);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
