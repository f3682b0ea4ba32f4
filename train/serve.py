# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "torch==2.15.0",
#     "transformers==5.23.0",
#     "accelerate==1.15.0",
# ]
# ///
"""Serves a model over the chat interface of OpenAI, on this machine, for trying it.

    uv run train/serve.py model --port 8001

It answers one request at a time. For many, serve the same folder with vLLM, llama.cpp's server or
`transformers serve`: Halma sees no difference.
"""

import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Model:
    def __init__(self, folder, cpu):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        cuda = torch.cuda.is_available() and not cpu
        self.torch, self.lock = torch, threading.Lock()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
        self.model = self.model.to("cuda" if cuda else "cpu").eval()
        self.context = getattr(self.model.config, "max_position_embeddings", None)

    def reply(self, request):
        """The reply with its counts of tokens; a `ValueError` says what is wrong with a request."""
        messages = request.get("messages")
        if not isinstance(messages, list) or not messages:
            raise ValueError("`messages` must be a list with at least one message")
        most = int(request.get("max_tokens") or request.get("max_completion_tokens") or 512)
        text = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        prompt = self.tokenizer(text, return_tensors="pt", add_special_tokens=False)
        length = prompt["input_ids"].shape[1]
        if self.context and length >= self.context:
            raise ValueError(f"the prompt has {length} tokens, and the context length is {self.context}")
        if self.context:
            most = min(most, self.context - length)
        temperature = float(request.get("temperature") or 0)
        drawn = {"do_sample": True, "temperature": temperature} if temperature > 0 else {"do_sample": False}
        with self.lock, self.torch.inference_mode():
            made = self.model.generate(
                **prompt.to(self.model.device),
                max_new_tokens=most,
                pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                **drawn,
            )
        made = made[0][length:]
        content = self.tokenizer.decode(made, skip_special_tokens=True)
        ended = len(made) < most or made[-1].item() == self.tokenizer.eos_token_id
        return content, "stop" if ended else "length", (length, len(made))


class Handler(BaseHTTPRequestHandler):
    model, name = None, "model"

    def do_GET(self):
        if self.path.rstrip("/") == "/v1/models":
            self.send(200, {"object": "list", "data": [{"id": self.name, "object": "model"}]})
        else:
            self.send(404, {"error": {"message": f"there is no {self.path}"}})

    def do_POST(self):
        if self.path.rstrip("/") != "/v1/chat/completions":
            self.send(404, {"error": {"message": f"there is no {self.path}"}})
            return
        try:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            content, reason, (prompt, completion) = self.model.reply(request)
        except (ValueError, TypeError, AttributeError) as error:
            self.send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
            return
        message = {"role": "assistant", "content": content}
        self.send(
            200,
            {
                "id": "chat",
                "object": "chat.completion",
                "model": self.name,
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": completion,
                    "total_tokens": prompt + completion,
                },
            },
        )

    def send(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="folder with the merged model")
    parser.add_argument("--port", type=int, default=8001, help="0 for any free one")
    parser.add_argument("--seconds", type=float, help="stop by itself after this time")
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    given = parser.parse_args()
    if not (given.model / "config.json").is_file():
        sys.exit(f"error: {given.model} holds no model\n hint: give the folder that merge.py wrote")
    Handler.model, Handler.name = Model(str(given.model), given.cpu), given.model.name
    server = ThreadingHTTPServer(("127.0.0.1", given.port), Handler)
    if given.seconds:
        timer = threading.Timer(given.seconds, server.shutdown)
        timer.daemon = True
        timer.start()
    print(f"serving {Handler.name} at http://127.0.0.1:{server.server_port}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
