
// The memory of one channel behind AXI4, as slow as it likes: one burst at a time in each direction.
module ${top}_memory #(
  parameter WIDTH = 32,
  // Where its bytes begin, and how many there are.
  parameter [63:0] START = 64'd0,
  parameter [63:0] BYTES = 64'd8192
) (
  input  wire aclk,
  input  wire awvalid, output reg awready, input wire [63:0] awaddr, input wire [7:0] awlen,
  input  wire wvalid, output reg wready, input wire [WIDTH-1:0] wdata, input wire wlast,
  output reg  bvalid, input wire bready,
  input  wire arvalid, output reg arready, input wire [63:0] araddr, input wire [7:0] arlen,
  output reg  rvalid, input wire rready, output reg [WIDTH-1:0] rdata, output reg rlast
);
  localparam [63:0] STEP = WIDTH / 8;
  reg [WIDTH-1:0] words [0:BYTES/STEP-1];
  integer first;
  reg [63:0] read_address, write_address;
  reg [7:0] left;

  initial begin
    {awready, wready, bvalid, arready, rvalid, rlast} = 6'd0;
    for (first = 0; first < BYTES / STEP; first = first + 1) words[first] = {WIDTH/32{$$random}};
  end

  task check(input [63:0] address, input [7:0] length);
    if (address < START || address + length * STEP >= START + BYTES
        || (address % 4096) + (length + 1) * STEP > 4096)
      $$fatal(1, "FAIL: burst of %0d words at %h", length + 1, address);
  endtask

  always begin
    awready <= 1'b1;
    @(posedge aclk);
    if (awvalid && awready) begin
      check(awaddr, awlen);
      write_address = awaddr - START;
      awready <= 1'b0;
      wready <= 1'b1;
      @(posedge aclk);
      while (!(wvalid && wlast)) begin
        if (wvalid) begin
          words[write_address / STEP] <= wdata;
          write_address = write_address + STEP;
        end
        @(posedge aclk);
      end
      words[write_address / STEP] <= wdata;
      wready <= 1'b0;
      bvalid <= 1'b1;
      @(posedge aclk);
      while (!bready) @(posedge aclk);
      bvalid <= 1'b0;
    end
  end

  always begin
    arready <= 1'b1;
    @(posedge aclk);
    if (arvalid && arready) begin
      check(araddr, arlen);
      read_address = araddr - START;
      left = arlen;
      arready <= 1'b0;
      rvalid <= 1'b1;
      rdata <= words[read_address / STEP];
      rlast <= left == 8'd0;
      @(posedge aclk);
      while (!(rready && rlast)) begin
        if (rready) begin
          read_address = read_address + STEP;
          left = left - 8'd1;
          rdata <= words[read_address / STEP];
          rlast <= left == 8'd0;
        end
        @(posedge aclk);
      end
      rvalid <= 1'b0;
    end
  end
endmodule
