// The example server of the protocol (@modelcontextprotocol/server-everything), whose SDK of the 1.x line has sessions and an event
// store. Settings: PORT.
process.argv[2] = 'streamableHttp';
await import('@modelcontextprotocol/server-everything/dist/index.js');
