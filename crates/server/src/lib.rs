//! The doors for programs and browsers: HTTP, OpenAI-compatible, MCP, the web page.
